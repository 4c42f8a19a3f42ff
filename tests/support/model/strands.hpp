#pragma once

#include "view.hpp"

#include <cstddef>
#include <functional>

namespace sluice::model {

/// The stacks that the threads of a scenario run on. Exactly one stack runs at any time.
///
/// The number maxThreads is the explorer, which exists from the start. A strand is started once in
/// an execution, and transfer() goes on where the target last left off.
class Strands {
public:
    static constexpr std::size_t explorer = maxThreads;

    Strands() = default;
    Strands(const Strands&) = delete;
    Strands& operator=(const Strands&) = delete;
    virtual ~Strands() = default;

    /// Prepares `body`, which begins at the first transfer to `strand`. After it, the strand
    /// destroys its own thread-local objects, if it has any, and calls ended(), whose last act is
    /// leave().
    virtual void start(std::size_t strand, std::function<void()> body,
                       std::function<void()> ended) = 0;

    /// The strand `from` calls it. It returns when another strand transfers to `from`.
    virtual void transfer(std::size_t from, std::size_t to) = 0;

    /// Called by the strand `from` as its last act.
    virtual void leave(std::size_t from, std::size_t to) = 0;

    /// Called by the explorer when all strands that were started have left.
    virtual void collect() = 0;

    /// The explorer calls it instead if some strands never go on. This object must then never be
    /// destroyed, because no unwinding ends these stacks.
    virtual void abandon() = 0;
};

}  // namespace sluice::model
