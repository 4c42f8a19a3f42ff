#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// Says how often something expensive may be done: once per `interval` in the long run, and `burst`
/// times in a row by who has not done it for long. Any thread may ask.
///
/// Origin: the generic cell rate algorithm of the ATM Forum (1996), a leaky bucket in one word.
template <class Platform>
class EpochAllowance {
public:
    static constexpr std::chrono::nanoseconds interval = std::chrono::microseconds(200);
    static constexpr std::int64_t burst = 256;

    /// Whether it may be done now; then this counts as once.
    bool take() noexcept {
        const std::int64_t now =
            std::chrono::nanoseconds(Platform::Clock::now().time_since_epoch()).count();
        // Relaxed, both: two threads that meet here do it once more than they should.
        const std::int64_t next = next_.load(std::memory_order_relaxed);
        if (next - now > (burst - 1) * interval.count()) {
            return false;
        }
        next_.store(std::max(next, now) + interval.count(), std::memory_order_relaxed);
        return true;
    }

private:
    /// When the last one that was allowed would have been due, without a burst.
    typename Platform::template Atomic<std::int64_t> next_{0};
};

}  // namespace detail
}  // namespace sluice
