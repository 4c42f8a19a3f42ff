#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// Time stamps for publishers, and the times that messages have waited for the accounts.
///
/// With TimeStamp::cached the consumer reads the clock once for many messages: it leaves the time
/// for publishers to copy, and adds up the stamps of what it handles until the next reading. While
/// it sleeps the copy would grow old, so it is taken away, and publishers read the clock.
template <class Traits, class Accounts>
class TimeKeeper {
    using Clock = typename Traits::Platform::Clock;
    using Point = typename Clock::time_point;
    using Rep = typename Clock::rep;
    using Atomic = typename Traits::Platform::template Atomic<Rep>;

    static constexpr bool isCached = Traits::timeStamp == TimeStamp::cached;
    static constexpr Rep none = 0;

public:
    /// By publishers.
    [[nodiscard]] Point stamp() const noexcept {
        if constexpr (isCached) {
            const Rep cached = cached_.load(std::memory_order_relaxed);  // no data follows it
            if (cached != none) {
                return Point(typename Clock::duration(cached));
            }
        }
        return Clock::now();
    }

    /// A message has been handled. By the consumer, as all below.
    void handled(Point stamp, Priority priority, Accounts& accounts) noexcept {
        if constexpr (!Traits::statistics) {
            return;
        } else if constexpr (isCached) {
            Pending& pending = pending_[static_cast<std::size_t>(priority)];
            pending.sum += since(stamp);
            pending.oldest = std::min(pending.oldest, stamp);
            ++pending.count;
        } else {
            const auto wait = Clock::now() - stamp;
            accounts.waited(priority, 1, wait, wait);
        }
    }

    /// Reads the clock for all that has been handled since the last time.
    void settle(Accounts& accounts) noexcept {
        if constexpr (isCached) {
            const Point now = Clock::now();
            cached_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
            for (std::size_t i = 0; i < priorityCount; ++i) {
                settle(pending_[i], static_cast<Priority>(i), now, accounts);
            }
            reference_ = now;
        }
    }

    /// The consumer sleeps, or will not look for messages soon.
    void suspend() noexcept {
        if constexpr (isCached) {
            cached_.store(none, std::memory_order_relaxed);
        }
    }

private:
    struct Pending {
        std::uint64_t count = 0;
        typename Clock::duration sum{0};  ///< of what the stamps lie after `reference_`
        Point oldest = Point::max();
    };

    typename Clock::duration since(Point stamp) const noexcept { return stamp - reference_; }

    void settle(Pending& pending, Priority priority, Point now, Accounts& accounts) noexcept {
        if (pending.count != 0) {
            const auto all = since(now) * static_cast<Rep>(pending.count) - pending.sum;
            accounts.waited(priority, pending.count, all, now - pending.oldest);
            pending = Pending{};
        }
    }

    // Written by the consumer, read by publishers.
    alignas(Traits::cacheLineSize) alignas(Atomic) Atomic cached_{none};

    // The consumer's own. Stamps are added up as distances from a near point, or they would
    // overflow.
    alignas(Traits::cacheLineSize) alignas(Point) Point reference_{};
    std::array<Pending, priorityCount> pending_;
};

/// Without time stamps there is no time to keep.
struct NoTimeKeeper {
    template <class Accounts>
    void settle(Accounts&) noexcept {}
    void suspend() noexcept {}
};

}  // namespace sluice::detail
