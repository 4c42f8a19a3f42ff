#pragma once

#include "view.hpp"

#include <cstddef>
#include <functional>

namespace sluice::model {

/// The stacks that the threads of a scenario run on, of which exactly one runs at any time.
///
/// Number maxThreads stands for the explorer, which is there from the start. A strand is started
/// once in an execution, and transfer() goes on where the target last left off.
class Strands {
public:
    static constexpr std::size_t explorer = maxThreads;

    Strands() = default;
    Strands(const Strands&) = delete;
    Strands& operator=(const Strands&) = delete;
    virtual ~Strands() = default;

    /// Prepares `body`; it begins at the first transfer to `strand`. After it, and after the
    /// destructors of its thread-local objects if it has any of its own, `ended` is called, whose
    /// last act is leave().
    virtual void start(std::size_t strand, std::function<void()> body,
                       std::function<void()> ended) = 0;

    /// Called by the strand `from`; returns when something transfers to it again.
    virtual void transfer(std::size_t from, std::size_t to) = 0;

    /// Called by the strand `from` as its last act.
    virtual void leave(std::size_t from, std::size_t to) = 0;

    /// Called by the explorer when all strands that were started have left.
    virtual void collect() = 0;

    /// Called by the explorer instead, when some will never go on. This object must then live for
    /// ever: nothing unwinds a stack that was left in the middle.
    virtual void abandon() = 0;
};

}  // namespace sluice::model
