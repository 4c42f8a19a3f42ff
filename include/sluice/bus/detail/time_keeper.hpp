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

/// Time stamps for publishers, and the times that messages have waited, for the counts.
///
/// With TimeStamp::cached the consumer reads the clock once for many messages. It leaves the time
/// for publishers to copy, and adds up the stamps of the messages until the next reading. While the
/// consumer sleeps or finds few messages, there is no copy, and publishers read the clock.
/// Otherwise a single message would wait for the line that the consumer has just written.
template <class Traits, class Counts>
class TimeKeeper {
    using Clock = typename Traits::Platform::Clock;
    using Point = typename Clock::time_point;
    using Rep = typename Clock::rep;
    using Atomic = typename Traits::Platform::template Atomic<Rep>;

    static constexpr bool isCached = Traits::timeStamp == TimeStamp::cached;
    static constexpr Rep none = 0;  // publishers read the clock

public:
    /// The time stamp for a message. Publishers call it.
    [[nodiscard]] Point stamp() const noexcept {
        if constexpr (isCached) {
            const Rep cached = cached_.load(std::memory_order_relaxed);  // no data follows it
            if (cached != none) {
                return Point(typename Clock::duration(cached));
            }
        }
        return Clock::now();
    }

    /// Counts the waiting time of a handled message.
    void handled(Point stamp, Priority priority, Counts& counts) noexcept {
        if constexpr (isCached && Traits::statistics) {
            Pending& pending = pending_[static_cast<std::size_t>(priority)];
            if (__builtin_expect(stamp != pending.stamp, 0)) {
                endRun(pending);
                pending.stamp = stamp;
            }
            ++pending.run;
        } else if constexpr (Traits::statistics) {
            const auto wait = Clock::now() - stamp;
            counts.waited(priority, 1, wait, wait);
        }
    }

    /// Reads the clock once for the `served` messages that were handled since the last call.
    void settle(std::size_t served, Counts& counts) noexcept {
        if constexpr (isCached) {
            const Point now = Clock::now();
            const Rep cached = cached_.load(std::memory_order_relaxed);
            const bool isRecent =
                cached != none && now - Point(typename Clock::duration(cached)) <= recent;
            offer(served >= batch || isRecent ? now.time_since_epoch().count() : none);
            for (std::size_t i = 0; i < priorityCount; ++i) {
                Pending& pending = pending_[i];
                if (pending.run != 0) {
                    endRun(pending);
                    const std::uint64_t all = ticks(now) * pending.count - pending.stamps;
                    counts.waited(static_cast<Priority>(i), pending.count,
                                  typename Clock::duration(static_cast<Rep>(all)),
                                  now - pending.oldest);
                    pending = Pending{};
                }
            }
        }
    }

    /// Withdraws the time when the consumer sleeps or finds nothing.
    void suspend() noexcept {
        if constexpr (isCached) {
            offer(none);
        }
    }

private:
    /// If it has served this many messages, the consumer leaves the time for publishers.
    static constexpr std::size_t batch = 8;
    /// With fewer messages, it leaves the time only if the last one is not older than this.
    static constexpr std::chrono::microseconds recent{100};

    struct Pending {
        Point stamp = Point::max();   ///< the stamp of the current run of messages
        std::uint64_t run = 0;        ///< messages of the run, not yet in the members below
        std::uint64_t count = 0;      ///< messages since the last reading of the clock
        std::uint64_t stamps = 0;     ///< the sum of their stamps, modulo 2^64, as `count * now` is
        Point oldest = Point::max();  ///< the oldest of these stamps
    };

    static std::uint64_t ticks(Point point) noexcept {
        return static_cast<std::uint64_t>(point.time_since_epoch().count());
    }

    /// Adds the current run of messages. Mostly one run lies between two readings of the clock.
    [[gnu::noinline]] void endRun(Pending& pending) const noexcept {
        pending.count += pending.run;
        pending.stamps += ticks(pending.stamp) * pending.run;
        pending.oldest = std::min(pending.oldest, pending.stamp);
        pending.run = 0;
    }

    void offer(Rep cached) noexcept {
        if (cached_.load(std::memory_order_relaxed) != cached) {
            cached_.store(cached, std::memory_order_relaxed);
        }
    }

    // Two lines apart, because processors fetch lines in pairs. Otherwise publishers would also
    // fetch the line that the consumer writes for each message. Measured.
    static constexpr std::size_t distance = 2 * Traits::cacheLineSize;

    // Written by the consumer, read by publishers.
    alignas(distance) alignas(Atomic) Atomic cached_{none};

    // The consumer's own.
    alignas(distance) alignas(Pending) std::array<Pending, priorityCount> pending_;
};

/// Without time stamps there is no time to keep.
struct NoTimeKeeper {
    template <class Counts>
    void settle(std::size_t, Counts&) noexcept {}
    void suspend() noexcept {}
};

}  // namespace sluice::detail
