#pragma once

#include <sluice/base/backoff.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sluice {

/// The wait between two checks of a condition that another thread makes true, soon or late.
///
///     NappingBackoff backoff;
///     while (!isReady()) {
///         backoff.wait();
///     }
///
/// It spins for some microseconds, yields a few times, and then sleeps: 32 times for 20 us, then
/// longer, and for 2 ms at most. So it usually sees, within a millisecond, a condition that is true
/// half of the time. It must sleep, because a thread of real-time priority that only yields never
/// lets a thread of lower priority run on the same processor.
///
/// Use a wait strategy of the module `wait` if the other thread can wake the waiting one.
///
/// Threads: one object for one wait of one thread. No allocation, no exceptions.
///
/// Tests: tests/unit/base/napping_backoff_test.cpp.
template <class Platform = StdPlatform>
class BasicNappingBackoff {
public:
    /// Waits one step, longer than the step before.
    [[gnu::cold, gnu::noinline]] void wait() noexcept {
        if (!backoff_.isYielding() || yields_ < mostYields) {
            yields_ += backoff_.isYielding() ? 1U : 0U;
            backoff_.wait();
            return;
        }
        std::this_thread::sleep_for(nap_);
        if (++naps_ > mostShortNaps) {
            nap_ = std::min(2 * nap_, longestNap);
        }
    }

    /// Whether the wait has become a long one: the next step yields or sleeps.
    [[nodiscard]] bool isLong() const noexcept { return backoff_.isYielding(); }

private:
    static constexpr unsigned mostYields = 16;
    static constexpr unsigned mostShortNaps = 32;
    static constexpr std::chrono::microseconds longestNap{2000};

    BasicBackoff<Platform> backoff_;
    unsigned yields_ = 0;
    unsigned naps_ = 0;
    std::chrono::microseconds nap_{20};
};

using NappingBackoff = BasicNappingBackoff<>;

}  // namespace sluice
