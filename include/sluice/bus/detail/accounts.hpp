#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/store_max.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/detail/own_number.hpp>
#include <sluice/bus/detail/published.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/detail/tally_board.hpp>
#include <sluice/bus/publish_result.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// What a message was and what became of it, as the place of a counter.
enum class Outcome : std::size_t { published, full, refused, closed, dropped };
inline constexpr std::size_t outcomeCount = 5;

/// The books of a bus. Publishers write to counters of their own thread, the consumer to its own:
/// no counter has two writers.
template <class Platform, std::size_t TypeCount>
class Accounts {
    using Count = OwnCount<Platform>;

public:
    using Statistics = BusStatistics<TypeCount>;

    // ---- Publishers

    void count(std::size_t type, Priority priority, Outcome outcome, std::uint64_t n) noexcept {
        tally_.add(counter(type, priority, outcome), n);
    }
    /// What was not accepted, if the publication failed. The room was full then, unless the bus was
    /// closed.
    [[gnu::always_inline]] void rejected(std::size_t type, Priority priority,
                                         const Published& published, std::uint64_t n,
                                         std::size_t room) noexcept {
        if (published.result != PublishResult::ok) {
            const Outcome outcome = outcomeOf(published.result);
            add(counter(type, priority, outcome), n, outcome == Outcome::closed ? 0 : room);
        }
    }

    /// To be called with the messages in the bus.
    void sawUsed(std::size_t used) noexcept { storeMax(highWater_, used); }
    [[nodiscard]] std::size_t highWater() const noexcept {
        return highWater_.load(std::memory_order_relaxed);
    }

    // ---- The consumer

    void delivered(std::size_t type, Priority priority, std::uint64_t failures) noexcept {
        Own& own = own_[type][indexOf(priority)];
        own.delivered.add(1);
        if (failures != 0) {
            own.failed.add(failures);
        }
    }
    void discarded(std::size_t type, Priority priority) noexcept {
        own_[type][indexOf(priority)].discarded.add(1);
    }
    void waited(Priority priority, std::uint64_t count, std::chrono::nanoseconds sum,
                std::chrono::nanoseconds max) noexcept {
        Times& times = times_[indexOf(priority)];
        times.count.add(count);
        times.sum.set(times.sum.get() + notNegative(sum));
        if (notNegative(max) > times.max.get()) {  // seldom, so seldom a write
            times.max.set(notNegative(max));
        }
    }

    // ---- Anybody

    [[nodiscard]] Statistics get() const {
        Statistics statistics;
        for (std::size_t type = 0; type < TypeCount; ++type) {
            for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
                statistics.counts[type][indexOf(priority)] = countsOf(type, priority);
            }
        }
        for (std::size_t i = 0; i < priorityCount; ++i) {
            statistics.times[i] = {times_[i].count.get(),
                                   std::chrono::nanoseconds(times_[i].sum.get()),
                                   std::chrono::nanoseconds(times_[i].max.get())};
        }
        statistics.highWater = highWater();
        return statistics;
    }

private:
    struct Own {
        Count delivered;
        Count failed;
        Count discarded;
    };
    struct Times {
        Count count;
        OwnNumber<Platform> sum;  // in nanoseconds, of which there are 4 billion in 4 seconds
        OwnNumber<Platform> max;
    };

    [[gnu::noinline]] void add(std::size_t counter, std::uint64_t n, std::size_t used) noexcept {
        sawUsed(used);
        tally_.add(counter, n);
    }

    /// A stamp may have been taken by another thread, a moment after this one looked.
    static std::uint64_t notNegative(std::chrono::nanoseconds time) noexcept {
        return static_cast<std::uint64_t>(time.count() < 0 ? 0 : time.count());
    }

    static constexpr std::size_t counter(std::size_t type, Priority priority,
                                         Outcome outcome) noexcept {
        return (type * priorityCount + indexOf(priority)) * outcomeCount +
               static_cast<std::size_t>(outcome);
    }
    static constexpr Outcome outcomeOf(PublishResult result) noexcept {
        return result == PublishResult::full      ? Outcome::full
               : result == PublishResult::refused ? Outcome::refused
                                                  : Outcome::closed;
    }

    MessageCounts countsOf(std::size_t type, Priority priority) const noexcept {
        const Own& own = own_[type][indexOf(priority)];
        MessageCounts counts;
        // What leaves the bus is read before what enters it: so no message seems to have left that
        // never came.
        counts.delivered = own.delivered.get();
        counts.failed = own.failed.get();
        counts.discarded = own.discarded.get();
        counts.dropped = tally_.sum(counter(type, priority, Outcome::dropped));
        counts.published = tally_.sum(counter(type, priority, Outcome::published));
        counts.full = tally_.sum(counter(type, priority, Outcome::full));
        counts.refused = tally_.sum(counter(type, priority, Outcome::refused));
        counts.closed = tally_.sum(counter(type, priority, Outcome::closed));
        return counts;
    }

    // Read by all, written once.
    PublisherTally<Platform, TypeCount * priorityCount * outcomeCount> tally_;

    // Seldom written, by publishers.
    typename Platform::template Atomic<std::size_t> highWater_{0};

    // Written by the consumer.
    alignas(cacheLineSize) std::array<std::array<Own, priorityCount>, TypeCount> own_;
    std::array<Times, priorityCount> times_;
};

/// Without statistics there are no books.
class NoAccounts {
public:
    void count(std::size_t, Priority, Outcome, std::uint64_t) noexcept {}
    void rejected(std::size_t, Priority, const Published&, std::uint64_t, std::size_t) noexcept {}
    void sawUsed(std::size_t) noexcept {}
    void delivered(std::size_t, Priority, std::uint64_t) noexcept {}
    void discarded(std::size_t, Priority) noexcept {}
    void waited(Priority, std::uint64_t, std::chrono::nanoseconds,
                std::chrono::nanoseconds) noexcept {}
};

}  // namespace sluice::detail
