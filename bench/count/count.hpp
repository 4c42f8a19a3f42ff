#pragma once

/// \file
/// Counts the instructions of a path. `Counting` gets them from callgrind. `Rows` lists the paths.
///
/// A path is counted in rounds of `roundSize` messages. The first rounds are not counted: they fill
/// caches, allocate memory and resolve symbols. An empty round executes the same instructions
/// beside the library, and tools/count.py subtracts them.

#include "harness/run/message.hpp"

#include <valgrind/callgrind.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::count {

using Message = bench::Message<64>;

/// Messages of a round.
inline constexpr std::size_t roundSize = 1000;
/// Slots of a queue that is filled and emptied once a round.
inline constexpr std::size_t slots = 1024;

/// Ends the program if a path did not do the counted work, for example if a push was refused.
inline void expect(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "sluice_count: %s\n", what);
        std::abort();
    }
}

/// Calls `body(message)` for each message of a round. The empty round does the same with a body
/// that does nothing.
template <class Body>
[[gnu::always_inline]] inline void forEachMessage(Body&& body) {
    Message message(0, 0);
    for (std::size_t i = 0; i < roundSize; ++i) {
        message.words.front() = i;
        asm volatile("" : : "r"(&message) : "memory");  // the body sees a message of its own
        body(message);
    }
}

/// Keeps the compiler from leaving out the computation of `value`.
template <class T>
[[gnu::always_inline]] inline void use(const T& value) {
    asm volatile("" : : "r"(value));
}

inline const char* const ours = "sluice";

/// The counts of one path through one library.
class Counting {
public:
    Counting(const std::string& path, const std::string& subject) : label_(path + '|' + subject) {}

    /// Counts work that goes through all messages of a round by forEachMessage(). `prepare` runs
    /// before each round and is not counted.
    template <class Prepare, class Work>
    void each(Prepare&& prepare, Work&& work) const {
        count(labelled("each"), prepare, work);
    }

    /// Counts work that is one call for all messages of a round.
    template <class Prepare, class Work>
    void whole(Prepare&& prepare, Work&& work) const {
        count(labelled("whole"), prepare, work);
    }

private:
    static constexpr int warmUps = 3;
    static constexpr int countedRounds = 3;

    /// The line that tools/count.py reads.
    std::string labelled(const char* kind) const {
        return label_ + '|' + kind + '|' + std::to_string(roundSize);
    }

    template <class Prepare, class Work>
    static void count(const std::string& label, Prepare& prepare, Work& work) {
        for (int round = 0; round < warmUps; ++round) {
            prepare();
            run(work);
        }
        // A thread that has ended leaves its instructions to the next dump.
        CALLGRIND_DUMP_STATS_AT("warm-up");
        for (int round = 0; round < countedRounds; ++round) {
            prepare();
            CALLGRIND_ZERO_STATS;
            run(work);
            CALLGRIND_DUMP_STATS_AT(label.c_str());
        }
    }

    // Not inlined, so that a path is compiled in the same surroundings, with any other paths beside
    // it.
    template <class Work>
    [[gnu::noinline]] static void run(Work& work) {
        work();
    }

    std::string label_;
};

/// A path through one library. `path` is the name in the table and the file of budgets.
struct Row {
    std::string path;
    std::string subject;
    std::function<void(const Counting&)> count;
};

using Rows = std::vector<Row>;

}  // namespace sluice::count
