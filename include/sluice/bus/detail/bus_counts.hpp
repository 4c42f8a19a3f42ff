#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/per_thread_counters.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/wait/event_count.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// How a publication ended: the index of a counter.
enum class PublishOutcome : std::size_t { published, full, refused, closed, dropped };
inline constexpr std::size_t publishOutcomeCount = 5;

/// How the consumer ended a message: the index of a counter.
enum class ConsumeOutcome : std::size_t { delivered, failed, discarded };
inline constexpr std::size_t consumeOutcomeCount = 3;

/// The counts of a bus. Publishers write counters of their own thread, the consumer writes its own.
/// So no counter has two writers.
template <class Platform, std::size_t TypeCount>
class BusCounts {
    using Count = SingleWriterCounter<Platform>;
    using Tally = CountersOf<Platform, TypeCount * priorityCount * publishOutcomeCount>;

public:
    using Statistics = BusStatistics<TypeCount>;

    // ---- Publishers

    /// Marks a publisher as inside, from its first message until its call ends.
    using Inside = typename Tally::Inside;

    bool attachThread() noexcept { return tally_.attach(); }
    /// Marks its thread as inside while it exists.
    struct Staying : Tally::Staying {
        explicit Staying(BusCounts& counts) noexcept : Tally::Staying(counts.tally_) {}
    };

    [[gnu::always_inline]] void published(std::size_t type, Priority priority,
                                          Inside& inside) noexcept {
        tally_.add(counter(type, priority, PublishOutcome::published), 1, inside);
    }

    void count(std::size_t type, Priority priority, PublishOutcome which,
               std::uint64_t n) noexcept {
        tally_.add(counter(type, priority, which), n);
    }
    /// Counts messages that were not accepted. The room was full, unless the bus was closed.
    [[gnu::always_inline]] void rejected(std::size_t type, Priority priority, SendResult result,
                                         std::uint64_t n, std::size_t room) noexcept {
        const PublishOutcome which =
            result == SendResult::full ? PublishOutcome::full : PublishOutcome::closed;
        add(counter(type, priority, which), n, which == PublishOutcome::closed ? 0 : room);
    }

    /// `used` is the number of messages of one priority in the bus.
    void sawUsed(std::size_t used) noexcept { storeMax(highWater_, used); }

    /// Waits until no other publisher is inside. Returns false if the deadline came first. A caller
    /// that is inside does not wait, because another thread inside may wait for the caller. It
    /// polls, because a leaving publisher must not touch the bus any more.
    template <class Wait, class Point>
    bool awaitPublishers(Wait& wait, Point deadline) const {
        using Clock = typename Platform::Clock;
        while (!tally_.isInside() && tally_.isAnotherInside()) {
            if (Clock::now() >= deadline) {
                return false;
            }
            const Point next = deadlineAfter<Clock>(std::chrono::microseconds(100));
            (void)wait.waitUntil([] { return false; }, std::min(deadline, next));
        }
        return true;
    }

    // ---- The consumer

    void count(std::size_t type, Priority priority, ConsumeOutcome which) noexcept {
        own_[type][indexOf(priority)][static_cast<std::size_t>(which)].add(1);
    }
    template <class Duration>
    void waited(Priority priority, std::uint64_t count, Duration sum, Duration max) noexcept {
        Times& times = times_[indexOf(priority)];
        times.count.add(count);
        times.sum.set(times.sum.get() + notNegative(sum));
        if (notNegative(max) > times.max.get()) {  // seldom true, so seldom a write
            times.max.set(notNegative(max));
        }
    }

    // ---- Anybody

    [[nodiscard]] Statistics get() const {
        Statistics statistics;
        // Messages that left are read first. Otherwise more could seem to leave than came.
        forEachCounts(statistics,
                      [&](MessageCounts& counts, std::size_t type, std::size_t priority) {
                          const Own& own = own_[type][priority];
                          counts.delivered = own[0].get();
                          counts.failed = own[1].get();
                          counts.discarded = own[2].get();
                      });
        addUp<PublishOutcome::dropped>(statistics, &MessageCounts::dropped);
        addUp<PublishOutcome::published>(statistics, &MessageCounts::published);
        addUp<PublishOutcome::full>(statistics, &MessageCounts::full);
        addUp<PublishOutcome::refused>(statistics, &MessageCounts::refused);
        addUp<PublishOutcome::closed>(statistics, &MessageCounts::closed);
        for (std::size_t i = 0; i < priorityCount; ++i) {
            statistics.times[i] = {times_[i].count.get(),
                                   std::chrono::nanoseconds(times_[i].sum.get()),
                                   std::chrono::nanoseconds(times_[i].max.get())};
        }
        statistics.highWater = highWater_.load(std::memory_order_relaxed);  // as storeMax()
        return statistics;
    }

private:
    using Own = std::array<Count, consumeOutcomeCount>;
    struct Times {
        Count count;
        SingleWriterNumber<Platform> sum;  // in nanoseconds; 32 bits would last 4 s
        SingleWriterNumber<Platform> max;
    };

    [[gnu::noinline]] void add(std::size_t counter, std::uint64_t n, std::size_t used) noexcept {
        sawUsed(used);
        tally_.add(counter, n);
    }

    /// A time is negative if another thread took the stamp after this thread read the clock.
    template <class Duration>
    static std::uint64_t notNegative(Duration time) noexcept {
        const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
        return static_cast<std::uint64_t>(count < 0 ? 0 : count);
    }

    static constexpr std::size_t counter(std::size_t type, Priority priority,
                                         PublishOutcome which) noexcept {
        return (type * priorityCount + indexOf(priority)) * publishOutcomeCount +
               static_cast<std::size_t>(which);
    }

    template <class F>
    static void forEachCounts(Statistics& statistics, F&& f) {
        for (std::size_t type = 0; type < TypeCount; ++type) {
            for (std::size_t priority = 0; priority < priorityCount; ++priority) {
                f(statistics.counts[type][priority], type, priority);
            }
        }
    }

    /// Adds the counts of all publishers. One after the other: each has its counters in a row.
    template <PublishOutcome What>
    void addUp(Statistics& statistics, std::uint64_t MessageCounts::*sum) const {
        tally_.forEach([&](const auto& counters) {
            forEachCounts(statistics,
                          [&](MessageCounts& counts, std::size_t type, std::size_t priority) {
                              const auto which = static_cast<Priority>(priority);
                              counts.*sum += counters[counter(type, which, What)].get();
                          });
        });
    }

    // Read by all threads, written once.
    Tally tally_;

    // Seldom written, by publishers and the consumer.
    typename Platform::template Atomic<std::size_t> highWater_{0};

    // Written by the consumer.
    alignas(cacheLineSize) std::array<std::array<Own, priorityCount>, TypeCount> own_;
    std::array<Times, priorityCount> times_;
};

/// Without statistics there are no counts.
class NoBusCounts {
public:
    struct Inside {};
    struct Staying {
        template <class AnyCounts>
        explicit Staying(AnyCounts&) noexcept {}
    };
    void published(std::size_t, Priority, Inside&) noexcept {}
    template <class Wait, class Point>
    static bool awaitPublishers(Wait&, Point) noexcept {
        return true;
    }
    static bool attachThread() noexcept { return true; }
    void count(std::size_t, Priority, PublishOutcome, std::uint64_t) noexcept {}
    void rejected(std::size_t, Priority, SendResult, std::uint64_t, std::size_t) noexcept {}
    void sawUsed(std::size_t) noexcept {}
    void count(std::size_t, Priority, ConsumeOutcome) noexcept {}
    template <class Duration>
    void waited(Priority, std::uint64_t, Duration, Duration) noexcept {}
};

}  // namespace sluice::detail
