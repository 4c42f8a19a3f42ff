#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sluice::detail {

/// Says how often a thread may pay for a heavy fence in order to free its removals: once per
/// `interval` in the long run, and `burst` times in a row after a pause. Each thread has its own,
/// so that the removals of one thread delay no other thread's.
///
/// Origin: the generic cell rate algorithm of the ATM Forum (1996), a leaky bucket in one word.
template <class Clock>
class FenceBudget {
public:
    static constexpr std::chrono::nanoseconds interval = std::chrono::microseconds(200);
    static constexpr std::int64_t burst = 256;

    /// Whether it may be done now; then this counts as once.
    static bool take() noexcept {
        const std::int64_t now = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
        if (next_ - now > (burst - 1) * interval.count()) {
            return false;
        }
        next_ = std::max(next_, now) + interval.count();
        return true;
    }

private:
    /// When the last one that was allowed would have been due, without a burst.
    inline static thread_local std::int64_t next_ = 0;
};

}  // namespace sluice::detail
