#pragma once

/// \file
/// Rounds that call listeners at once: callback lists and dispatchers.
///
/// A list under test is an adapter, a class `List`:
///
///     Handle add(listener);  // as the last one
///     void remove(handle);
///     void call(std::uint64_t value, Tally& tally);  // hands both to every listener
///
/// and a dispatcher a class `Dispatcher`:
///
///     void add(int event, listener);
///     void dispatch(int event, std::uint64_t value, Tally& tally);
///
/// If the plan of a round has a producer, this thread also uses the object, on its CPU, at the same
/// time.

#include "harness/run/booked_round.hpp"
#include "harness/run/parallel.hpp"
#include "harness/run/tally.hpp"
#include "harness/statistics/cheap_random.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::bench {

inline const char* const notPinned = "a thread could not be pinned to its CPU";

/// 1 + 2 + ... + n
constexpr std::uint64_t sumTo(std::uint64_t n) noexcept {
    return n % 2 == 0 ? n / 2 * (n + 1) : (n + 1) / 2 * n;
}

/// The arguments passed to each listener.
struct Handed {
    std::uint64_t times = 0;
    std::uint64_t sum = 0;

    Handed& operator+=(const Handed& other) noexcept {
        times += other.times;
        sum += other.sum;
        return *this;
    }
};

/// The books of a list with `listeners` listeners of the weights 1, 2, ...
inline Counts listBooks(const Handed& handed, std::size_t listeners, const Tally& tally) {
    Counts counts;
    counts.planned = counts.attempted = counts.accepted = handed.times * listeners;
    counts.sentSum = handed.sum * sumTo(listeners);
    counts.delivered = tally.count();
    counts.receivedSum = tally.sum();
    counts.disorder = tally.strange();
    return counts;
}

template <class List>
void fill(List& list, std::size_t listeners) {
    for (std::uint64_t weight = 1; weight <= listeners; ++weight) {
        (void)list.add(Listener{weight});
    }
}

// The timed loops are kept out of line, so that all subjects get the same surroundings.

template <class List>
[[gnu::noinline]] Handed callMany(List& list, Tally& tally, std::uint64_t calls) {
    for (std::uint64_t value = 1; value <= calls; ++value) {
        list.call(value, tally);
    }
    return {calls, sumTo(calls)};
}

template <class List>
[[gnu::noinline]] void addAndRemoveMany(List& list, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
        const auto handle = list.add(PassingListener{});
        list.remove(handle);
    }
}

/// Calls a list of `capacity` listeners. The time is that of one listener's call.
template <class List>
Round callRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        const std::size_t threads = plan.producers() + 1;
        List list;
        fill(list, plan.capacity);
        std::vector<Tally> tallies(threads);
        std::vector<Handed> handed(threads);
        const auto call = [&](std::size_t index, std::uint64_t calls) {
            handed[index] += callMany(list, tallies[index], calls);
        };
        const double runIn = wallTime(plan.placement, [&](std::size_t i) { call(i, plan.runIn); });
        const double ns = wallTime(plan.placement, [&](std::size_t i) { call(i, plan.messages); });
        if (runIn < 0 || ns < 0) {
            round.error = notPinned;
        }
        round.time(0, Nanoseconds(ns), plan.messages * threads * plan.capacity);
        Counts counts;
        for (std::size_t i = 0; i < threads; ++i) {
            counts += listBooks(handed[i], plan.capacity, tallies[i]);
        }
        return counts;
    });
}

/// Adds a listener to a list of `capacity` and removes it again. The time is that of the pair. With
/// a producer in the plan, another thread has called the list before, and has ended.
template <class List>
Round addRemoveRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        List list;
        fill(list, plan.capacity);
        Tally tally;
        Handed handed;
        for (const int cpu : plan.placement.producerCpus) {
            std::thread([&] {
                if (!takePlace(plan.placement, cpu)) {
                    round.error = notPinned;
                }
                handed += callMany(list, tally, 1);
            }).join();
        }
        handed += callMany(list, tally, 1);
        addAndRemoveMany(list, plan.runIn);
        const Nanoseconds start = now();
        addAndRemoveMany(list, plan.messages);
        round.time(start, now(), plan.messages);
        handed += callMany(list, tally, 1);
        return listBooks(handed, plan.capacity, tally);
    });
}

/// Adds `capacity` listeners to an empty list, one by one. The time is that of one addition,
/// without the end of the list.
template <class List>
Round growRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        const std::uint64_t lists = plan.messages / plan.capacity + 1;
        Tally tally;
        Handed handed;
        Nanoseconds time = 0;
        for (std::uint64_t i = 0; i <= lists; ++i) {
            List list;
            const Nanoseconds start = now();
            fill(list, plan.capacity);
            time += i == 0 ? 0 : now() - start;  // the first one is the run-in
            handed += callMany(list, tally, 1);
        }
        round.time(0, time, lists * plan.capacity, 2 * lists);
        return listBooks(handed, plan.capacity, tally);
    });
}

// One thread calls while another one adds and removes.

/// Calls until the other thread is done, at most `most` times. It also checks passing listeners.
template <class List>
[[gnu::noinline]] Handed callUntil(List& list, Tally& tally, const std::atomic<bool>& isDone,
                                   std::uint64_t most) {
    Handed handed;
    // Relaxed: the flag only ends the loop.
    while (handed.times < most && !isDone.load(std::memory_order_relaxed)) {
        tally.announce(++handed.times);
        list.call(handed.times, tally);
    }
    handed.sum = sumTo(handed.times);
    return handed;
}

/// The time of a pair of add and remove while another thread calls the list without a pause. With
/// `TimesCalls`, the time of one listener's call during such changes.
template <class List, bool TimesCalls>
Round contendedRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        constexpr std::uint64_t endless = ~std::uint64_t{0};
        List list;
        fill(list, plan.capacity);
        Tally tally;
        Handed handed;
        std::atomic<bool> isDone{false};
        const auto measured = [&] {
            const Nanoseconds start = now();
            if constexpr (TimesCalls) {
                handed = callUntil(list, tally, isDone, plan.messages);
            } else {
                addAndRemoveMany(list, plan.messages);
            }
            round.time(start, now(), plan.messages * (TimesCalls ? plan.capacity : 1));
            isDone = true;
        };
        const auto meanwhile = [&] {
            if constexpr (TimesCalls) {
                while (!isDone.load(std::memory_order_relaxed)) {
                    addAndRemoveMany(list, 16);
                }
            } else {
                handed = callUntil(list, tally, isDone, endless);
            }
        };
        const auto work = [&](std::size_t index) { index == 0 ? measured() : meanwhile(); };
        if (wallTime(plan.placement, work) < 0) {
            round.error = notPinned;
        }
        return listBooks(handed, plan.capacity, tally);
    });
}

/// Events in an order that a branch predictor does not learn, the same for all subjects.
class EventOrder {
public:
    explicit EventOrder(std::size_t events) {
        CheapRandom random;
        for (int& event : order_) {
            event = int(random.below(events));
        }
    }
    int operator[](std::uint64_t index) const noexcept { return order_[index % order_.size()]; }

private:
    std::array<int, 4096> order_{};
};

/// The sum is weighted: the listener of event e has the weight e + 1.
template <class Dispatcher>
[[gnu::noinline]] Handed dispatchMany(Dispatcher& dispatcher, Tally& tally, const EventOrder& order,
                                      std::uint64_t times) {
    std::uint64_t sum = 0;
    for (std::uint64_t value = 1; value <= times; ++value) {
        const int event = order[value];
        sum += value * std::uint64_t(event + 1);
        dispatcher.dispatch(event, value, tally);
    }
    return {times, sum};
}

/// Dispatches to `capacity` events with one listener each.
template <class Dispatcher>
Round dispatchRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        const std::size_t threads = plan.producers() + 1;
        const EventOrder order(plan.capacity);
        Dispatcher dispatcher;
        for (std::size_t event = 0; event < plan.capacity; ++event) {
            dispatcher.add(int(event), Listener{event + 1});
        }
        std::vector<Tally> tallies(threads);
        std::vector<Handed> handed(threads);
        const auto dispatch = [&](std::size_t index, std::uint64_t times) {
            handed[index] += dispatchMany(dispatcher, tallies[index], order, times);
        };
        const double runIn =
            wallTime(plan.placement, [&](std::size_t i) { dispatch(i, plan.runIn); });
        const double ns =
            wallTime(plan.placement, [&](std::size_t i) { dispatch(i, plan.messages); });
        if (runIn < 0 || ns < 0) {
            round.error = notPinned;
        }
        round.time(0, Nanoseconds(ns), plan.messages * threads);
        Counts counts;
        for (std::size_t i = 0; i < threads; ++i) {
            counts += listBooks(handed[i], 1, tallies[i]);
        }
        return counts;
    });
}

}  // namespace sluice::bench
