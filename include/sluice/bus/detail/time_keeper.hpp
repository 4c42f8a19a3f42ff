#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice::detail {

/// Time stamps for publishers, and the times that messages have waited for the accounts.
///
/// With TimeStamp::cached the consumer reads the clock once for many messages: it leaves the time
/// for publishers to copy, and adds up the stamps of what it handles until the next reading. While
/// it sleeps or seldom looks the copy would grow old, so it is taken away, and publishers read the
/// clock. While it looks all the time and finds next to nothing, the copy stays the same, or each
/// lonely message would have to wait for the line it is in: it says that the consumer is to stamp
/// what it finds.
template <class Traits, class Accounts>
class TimeKeeper {
    using Clock = typename Traits::Platform::Clock;
    using Point = typename Clock::time_point;
    using Rep = typename Clock::rep;
    using Atomic = typename Traits::Platform::template Atomic<Rep>;

    static constexpr bool isCached = Traits::timeStamp == TimeStamp::cached;
    /// Where publishers drop messages, they are also the ones to find them; and in a ring nobody
    /// sees what lies behind the oldest one.
    static constexpr bool canFindAll = Traits::priorities && !canDrop<Traits>();
    static constexpr Rep none = 0;                                     // publishers read the clock
    static constexpr Rep onArrival = std::numeric_limits<Rep>::max();  // the consumer stamps

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

    /// Whether a stamp has been left to the consumer.
    static bool isOpen(Point stamp) noexcept {
        return stamp.time_since_epoch().count() == onArrival;
    }

    /// A message has been found. By the consumer, as all below.
    void arrived(Point& stamp) const noexcept {
        if (isOpen(stamp)) {
            stamp = open_;
        }
    }

    /// Whether messages may be about that are to be stamped. They must all be found before the next
    /// reading.
    [[nodiscard]] bool mayFindOpen() const noexcept {
        return cached_.load(std::memory_order_relaxed) == onArrival;
    }

    /// A message has been handled.
    void handled(Point stamp, Priority priority, Accounts& accounts) noexcept {
        if constexpr (!Traits::statistics) {
            return;
        } else if constexpr (isCached) {
            Pending& pending = pending_[static_cast<std::size_t>(priority)];
            if (__builtin_expect(stamp != pending.stamp, 0)) {
                endRun(pending);
                pending.stamp = stamp;
            }
            ++pending.run;
        } else {
            const auto wait = Clock::now() - stamp;
            accounts.waited(priority, 1, wait, wait);
        }
    }

    /// Reads the clock for all that has been handled since the last time, `served` messages.
    void settle(std::size_t served, Accounts& accounts) noexcept {
        if constexpr (isCached) {
            const Point now = Clock::now();
            keepForOpen();
            const Rep cached = cached_.load(std::memory_order_relaxed);
            if (served >= batch || (cached != none && cached != onArrival)) {
                offer(now.time_since_epoch().count());
            }
            for (std::size_t i = 0; i < priorityCount; ++i) {
                settle(pending_[i], static_cast<Priority>(i), now, accounts);
            }
            reference_ = now;
        }
    }

    /// The consumer has looked `looks` times in a row and found nothing.
    void idle(std::size_t looks) noexcept {
        if constexpr (isCached) {
            const Point now = Clock::now();
            keepForOpen();
            if (now - reference_ >= looks * seldom || !canFindAll) {
                offer(none);
            } else if (!mayFindOpen()) {
                open_ = now;
                offer(onArrival);
            }
            reference_ = now;
        }
    }

    /// The consumer sleeps.
    void suspend() noexcept {
        if constexpr (isCached) {
            offer(none);
        }
    }

private:
    /// From so many messages at a time on, the consumer leaves the time for publishers.
    static constexpr std::size_t batch = 8;
    /// A consumer that takes longer from one look to the next is not waiting for messages alone.
    static constexpr std::chrono::microseconds seldom{1};

    struct Pending {
        Point stamp{};  ///< of the last ones, so many,
        Rep run = 0;    ///< which have yet to be added:
        std::uint64_t count = 0;
        Point first{};                    ///< of their stamps
        typename Clock::duration sum{0};  ///< of what the others lie after it
        Point oldest = Point::max();
    };

    /// Adds what had one stamp, as nearly all have that are handled between two readings.
    [[gnu::noinline]] void endRun(Pending& pending) const noexcept {
        if (pending.run != 0) {
            if (pending.count == 0) {
                pending.first = pending.stamp;
            }
            pending.sum += (pending.stamp - pending.first) * pending.run;
            pending.oldest = std::min(pending.oldest, pending.stamp);
            pending.count += static_cast<std::uint64_t>(pending.run);
            pending.run = 0;
        }
    }

    /// Before a reading: an open stamp becomes the reading before the last one, since the message
    /// may have come before the last one; and what is found after the time of open stamps was
    /// published in it.
    void keepForOpen() noexcept {
        if (mayFindOpen()) {
            open_ = reference_;
        }
    }

    void offer(Rep cached) noexcept {
        if (cached_.load(std::memory_order_relaxed) != cached) {
            cached_.store(cached, std::memory_order_relaxed);
        }
    }

    void settle(Pending& pending, Priority priority, Point now, Accounts& accounts) noexcept {
        endRun(pending);
        if (pending.count != 0) {
            const auto all = (now - pending.first) * static_cast<Rep>(pending.count) - pending.sum;
            accounts.waited(priority, pending.count, all, now - pending.oldest);
            pending = Pending{};
        }
    }

    // Two lines apart: processors fetch lines in pairs, and what the consumer writes for each
    // message would go away with what publishers fetch. Measured.
    static constexpr std::size_t distance = 2 * Traits::cacheLineSize;

    // Written by the consumer, read by publishers.
    alignas(distance) alignas(Atomic) Atomic cached_{none};

    // The consumer's own: its last reading, and what open stamps become. Stamps are added up as
    // distances from one of them, or they would overflow.
    alignas(distance) alignas(Point) Point reference_{};
    Point open_{};
    std::array<Pending, priorityCount> pending_;
};

/// Without time stamps there is no time to keep.
struct NoTimeKeeper {
    template <class Accounts>
    void settle(std::size_t, Accounts&) noexcept {}
    void idle(std::size_t) noexcept {}
    [[nodiscard]] static constexpr bool mayFindOpen() noexcept { return false; }
    void suspend() noexcept {}
};

}  // namespace sluice::detail
