#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice::detail {

enum class PublishOutcome : std::size_t { full, closed, dropped };

/// The outcome of a message that the consumer has removed. An unhandled message also counts as
/// handled, so that the common case increments one counter.
enum class ConsumeOutcome : std::size_t { handled, failed, discarded, unhandled, expired };

/// The statistics of a bus. The rings' positions count accepted messages, the consumer counts
/// removed messages, and publishers count refused and dropped messages.
template <class Traits, std::size_t TypeCount>
class BusCounts {
    using Platform = typename Traits::Platform;
    using Count = SingleWriterCounter<Platform>;
    using SharedCount = typename Platform::template Atomic<CounterWord>;

public:
    using Statistics = BusStatistics<TypeCount>;

    // ---- Publishers

    /// count() is out of line, so that publish() has more registers in the common case.
    template <Priority P, PublishOutcome Which>
    [[gnu::noinline]] void count(std::size_t type, CounterWord n) noexcept {
        add(stripe().outcomes[type][indexOf(P)][static_cast<std::size_t>(Which)], n);
    }
    template <Priority P>
    void rejected(std::size_t type, SendResult result, CounterWord n) noexcept {
        if (result == SendResult::full) {
            sawUsed(roomOf<Traits>(P));
            count<P, PublishOutcome::full>(type, n);
        } else {
            count<P, PublishOutcome::closed>(type, n);
        }
    }
    /// Counts `n` claimed slots that stay empty because a constructor threw.
    [[gnu::noinline]] void thrown(Priority priority, CounterWord n) noexcept {
        add(stripe().thrown[indexOf(priority)], n);
    }
    void sawUsed(std::size_t used) noexcept { storeMax(highWater_, used); }

    // ---- The consumer

    void count(std::size_t type, Priority priority, ConsumeOutcome which) noexcept {
        consumed_[static_cast<std::size_t>(which)][indexOf(priority)][type].add(1);
    }
    template <class Duration>
    void waited(Priority priority, std::uint64_t count, Duration sum, Duration max) noexcept {
        Times& times = times_[indexOf(priority)];
        times.count.add(count);
        times.sum.set(times.sum.get() + notNegative(sum));
        if (notNegative(max) > times.max.get()) {
            times.max.set(notNegative(max));
        }
    }

    // ---- Any thread

    /// pushCount(priority) returns the pushes of a ring, modulo half the range of Traits::Index.
    template <class PushCount>
    [[nodiscard]] Statistics get(const PushCount& pushCount) const {
        constexpr std::uint64_t range = std::numeric_limits<typename Traits::Index>::max() / 2;
        Statistics statistics;
        for (std::size_t i = 0; i < priorityCount; ++i) {
            std::uint64_t left = 0;
            for (const Stripe& each : stripes_) {
                left += each.thrown[i].load(std::memory_order_acquire);  // E2 thrown
            }
            for (std::size_t type = 0; type < TypeCount; ++type) {
                MessageCounts& counts = statistics.counts[type][i];
                // Reads `unhandled` before `handled`, which the consumer increments last.
                counts.unhandled = consumed_[3][i][type].get();
                const std::uint64_t handled = consumed_[0][i][type].get();  // E1 counted
                counts.unhandled = std::min(counts.unhandled, handled);
                counts.delivered = handled - counts.unhandled;
                counts.failed = consumed_[1][i][type].get();
                counts.discarded = consumed_[2][i][type].get();
                if constexpr (Traits::expiry) {
                    counts.expired = consumed_[4][i][type].get();
                }
                for (const Stripe& each : stripes_) {
                    const Outcomes& outcomes = each.outcomes[type][i];
                    counts.full += outcomes[0].load(std::memory_order_relaxed);     // value only
                    counts.closed += outcomes[1].load(std::memory_order_relaxed);   // value only
                    counts.dropped += outcomes[2].load(std::memory_order_acquire);  // E1 counted
                }
                counts.published = handled + counts.discarded + counts.expired + counts.dropped;
                left += counts.published;
            }
            // Limits `queued` to the quota, because messages may arrive and leave between the reads
            // of pushes and removals. With dropOldest, the message being handled needs no quota.
            const auto priority = static_cast<Priority>(i);
            const std::size_t most =
                roomOf<Traits>(priority) + (Traits::overflow[i] == Overflow::dropOldest ? 1 : 0);
            statistics.queued[i] =
                std::min<std::uint64_t>((pushCount(priority) - left) & range, most);
            statistics.times[i] = {times_[i].count.get(),
                                   std::chrono::nanoseconds(times_[i].sum.get()),
                                   std::chrono::nanoseconds(times_[i].max.get())};
        }
        statistics.highWater = highWater_.load(std::memory_order_relaxed);  // value only
        return statistics;
    }

private:
    // Happens-before edges (proof: docs/algorithms/bus.md):
    //   E1 counted: count -> get.
    //   E2 thrown: thrown -> get.

    using Outcomes = std::array<SharedCount, 3>;
    struct Times {
        Count count;
        SingleWriterNumber<Platform> sum;  // in nanoseconds; 32 bits would overflow after 4 s
        SingleWriterNumber<Platform> max;
    };
    /// Threads share four stripes of counters, so that refused publishers seldom write the same
    /// cache line. Not two alignas, because g++ ignores the first one in a template.
    struct alignas(std::max(Traits::cacheLineSize, alignof(SharedCount))) Stripe {
        std::array<std::array<Outcomes, priorityCount>, TypeCount> outcomes{};
        std::array<SharedCount, priorityCount> thrown{};
    };
    static_assert(alignof(Stripe) >= Traits::cacheLineSize, "each stripe begins a cache line");
    static constexpr std::size_t stripeCount = Platform::hasThreads ? 4 : 1;

    Stripe& stripe() noexcept { return stripes_[Platform::threadNumber() % stripeCount]; }
    static void add(SharedCount& count, CounterWord n) noexcept {
        count.fetch_add(n, std::memory_order_release);  // E1, E2
    }

    /// A waiting time is negative if a publisher took the stamp after the consumer read the clock.
    template <class Duration>
    static std::uint64_t notNegative(Duration time) noexcept {
        const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
        return static_cast<std::uint64_t>(count < 0 ? 0 : count);
    }

    using Size = typename Platform::template Atomic<std::size_t>;
    alignas(Traits::cacheLineSize) alignas(Size) Size highWater_{0};

    std::array<Stripe, stripeCount> stripes_;

    // Written by the consumer. The type is the last index, so that count() needs no multiplication.
    using OfPriority = std::array<std::array<Count, TypeCount>, priorityCount>;
    alignas(Traits::cacheLineSize) alignas(
        Count) std::array<OfPriority, Traits::expiry ? 5 : 4> consumed_;
    std::array<Times, priorityCount> times_;
};

template <std::size_t TypeCount>
class NoBusCounts {
public:
    template <class PushCount>
    BusStatistics<TypeCount> get(const PushCount&) const {
        return {};  // only if Bus::statistics() fails to compile
    }
    template <Priority, PublishOutcome>
    void count(std::size_t, CounterWord) noexcept {}
    template <Priority>
    void rejected(std::size_t, SendResult, CounterWord) noexcept {}
    void thrown(Priority, std::uint64_t) noexcept {}
    void sawUsed(std::size_t) noexcept {}
    void count(std::size_t, Priority, ConsumeOutcome) noexcept {}
    template <class Duration>
    void waited(Priority, std::uint64_t, Duration, Duration) noexcept {}
};

/// Provides time stamps, and measures how long messages wait.
///
/// With TimeStamp::cached, the consumer reads the clock once for many messages and offers this time
/// to publishers. While the consumer sleeps or finds few messages, publishers read the clock
/// themselves, which is cheaper than a cache miss on the offered time.
template <class Traits, class Counts>
class TimeKeeper {
    using Clock = typename Traits::Platform::Clock;
    using Point = typename Clock::time_point;
    using Rep = typename Clock::rep;
    using Atomic = typename Traits::Platform::template Atomic<Rep>;

    static constexpr bool isCached = Traits::timeStamp == TimeStamp::cached;
    static constexpr Rep none = 0;  // publishers read the clock

public:
    [[nodiscard]] Point stamp() const noexcept {
        if constexpr (isCached) {
            const Rep cached = cached_.load(std::memory_order_relaxed);  // value only
            if (cached != none) {
                return Point(typename Clock::duration(cached));
            }
        }
        return Clock::now();
    }

    void handled(Point stamp, Priority priority, Counts& counts) noexcept {
        if constexpr (isCached && Traits::statistics) {
            Pending& pending = pending_[indexOf(priority)];
            if (SLUICE_UNLIKELY(stamp != pending.stamp)) {
                endRun(pending);
                pending.stamp = stamp;
            }
            ++pending.run;
        } else if constexpr (Traits::statistics) {
            const auto wait = Clock::now() - stamp;
            counts.waited(priority, 1, wait, wait);
        }
    }

    /// Reads the clock once for the `served` messages handled since the last settle().
    void settle(std::size_t served, Counts& counts) noexcept {
        if constexpr (isCached) {
            const Point now = Clock::now();
            const Rep cached = cached_.load(std::memory_order_relaxed);  // own variable
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

    /// Withdraws the offered time. Called when the consumer sleeps or finds no messages.
    void suspend() noexcept {
        if constexpr (isCached) {
            offer(none);
        }
    }

private:
    /// The consumer offers its last clock reading after at least this many messages.
    static constexpr std::size_t batch = 8;
    /// Within this period after an offer, the next offer may follow fewer than `batch` messages.
    static constexpr std::chrono::microseconds recent{100};

    struct Pending {
        Point stamp = Point::max();   ///< the common stamp of the latest messages
        std::uint64_t run = 0;        ///< number of messages with `stamp`; `count` excludes them
        std::uint64_t count = 0;      ///< number of earlier messages since the last clock reading
        std::uint64_t stamps = 0;     ///< sum of the earlier messages' stamps, modulo 2^64
        Point oldest = Point::max();  ///< the oldest of the earlier stamps
    };

    static std::uint64_t ticks(Point point) noexcept {
        return static_cast<std::uint64_t>(point.time_since_epoch().count());
    }

    [[gnu::noinline]] void endRun(Pending& pending) const noexcept {
        pending.count += pending.run;
        pending.stamps += ticks(pending.stamp) * pending.run;
        pending.oldest = std::min(pending.oldest, pending.stamp);
        pending.run = 0;
    }

    void offer(Rep cached) noexcept {
        if (cached_.load(std::memory_order_relaxed) != cached) {  // own variable
            cached_.store(cached, std::memory_order_relaxed);     // value only
        }
    }

    // The alignment is two cache lines, because processors prefetch lines in pairs (measured).
    static constexpr std::size_t distance = 2 * Traits::cacheLineSize;

    // Written by the consumer, read by publishers.
    alignas(distance) alignas(Atomic) Atomic cached_{none};

    // Used by the consumer alone.
    alignas(distance) alignas(Pending) std::array<Pending, priorityCount> pending_;
};

struct NoTimeKeeper {
    template <class Counts>
    void settle(std::size_t, Counts&) noexcept {}
    void suspend() noexcept {}
};

/// Reports each change of the fill level once, on the thread that first notices the change.
template <class Platform, class Observer>
class PressureNotifier {
    static constexpr bool isSilent = std::is_same_v<Observer, BusObserver>;

public:
    /// Returns true if the last reported level is below pressure(). The result is a hint.
    template <class GetPressure>
    [[nodiscard]] bool isBelow(const GetPressure& pressure) const noexcept {
        if constexpr (isSilent) {
            return false;
        }
        Platform::Fence::light();                                             // E1 reported
        const Pressure reported = reported_.load(std::memory_order_relaxed);  // by E1
        return reported != Pressure::full && reported < pressure();
    }

    template <class Bus>
    void notify(const Bus& bus, Observer* observer) noexcept {
        if constexpr (isSilent) {
            return;
        }
        Pressure now = Pressure::normal;
        do {
            now = bus.pressure();
            const Pressure before = reported_.exchange(now, std::memory_order_relaxed);  // by E1
            if (before != now) {
                Platform::Fence::heavy();  // E1 reported
                if (observer != nullptr) {
                    observer->pressureChanged(before, now);
                }
            }
        } while (now != bus.pressure());  // so that the last report is current
    }

private:
    // Happens-before edge (proof: docs/algorithms/bus.md): E1 reported: notify <-> isBelow.
    typename Platform::template Atomic<Pressure> reported_{Pressure::normal};
};

}  // namespace sluice::detail
