#pragma once

#include "support/testing.hpp"
#include <ctime>

namespace sluice::test {

struct Usage {
    std::chrono::nanoseconds processorTime{0};
    std::chrono::nanoseconds wallTime{0};
};

inline std::chrono::nanoseconds processorTimeOfThisThread() {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
}

/// A sleeping thread takes less than one part in this many of a processor; a spinning one takes
/// all. An emulator first translates the code, which takes one part in a hundred by itself.
#if defined(SLUICE_TEST_EMULATED)
inline constexpr int idleShare = 10;
#else
inline constexpr int idleShare = 100;
#endif

/// The usage of this thread during a call.
template <class Call>
Usage usageOf(Call&& call) {
    const auto wall = std::chrono::steady_clock::now();
    const auto processor = processorTimeOfThisThread();
    call();
    return {processorTimeOfThisThread() - processor, std::chrono::steady_clock::now() - wall};
}

/// Whether a thread sleeps during the call that `measure` measures. The kernel may charge a whole
/// tick to a thread that ran for a moment, so the thread may try three times. A thread that spins
/// takes too much each time.
template <class Measure>
testing::AssertionResult sleeps(Measure measure) {
    Usage usage;
    for (int attempt = 0; attempt < 3; ++attempt) {
        usage = measure();
        if (usage.processorTime * idleShare < usage.wallTime) {
            return testing::AssertionSuccess();
        }
    }
    return testing::AssertionFailure()
           << usage.processorTime.count() << " ns of a processor in " << usage.wallTime.count()
           << " ns, which is more than one part in " << idleShare << ", in each of three tries";
}

}  // namespace sluice::test
