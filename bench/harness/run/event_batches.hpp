#pragma once

/// \file
/// Rounds that queue events and deliver them, in batches, on one thread.
///
/// A queue under test is an adapter, a class `Queue` for one type of argument:
///
///     using Argument = ...;
///     void add(int event, listener);  // listener(const Argument&)
///     void enqueue(int event, const Argument& argument);
///     void process();  // calls the listeners of all that is queued
///     void visit(visitor);  // or the visitor: visitor(int event, const Argument& argument)

#include "harness/machine/clock.hpp"
#include "harness/run/booked_round.hpp"
#include "harness/run/tally.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::bench {

constexpr std::uint64_t queuedEventIds = 10;

struct ArrivalListener {
    Arrivals* arrivals;
    template <class Argument>
    void operator()(const Argument& argument) const noexcept {
        arrivals->take(argument);
    }
};

// The timed loops are kept out of line, so that all subjects get the same surroundings.

/// Enqueues events of the ids 0 to `Ids` - 1 in turn. Returns the sum of the sent arguments.
template <std::uint64_t Ids, class Queue, class Source>
[[gnu::noinline]] std::uint64_t enqueueMany(Queue& queue, Source& source, std::uint64_t events) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < events; ++i) {
        const typename Queue::Argument& argument = source.next();
        sum += checksumOf(argument);
        queue.enqueue(int(i % Ids), argument);
    }
    return sum;
}

struct CallListeners {
    template <class Queue>
    [[gnu::noinline]] static void drain(Queue& queue, Arrivals&) {
        queue.process();
    }
};

struct CallVisitor {
    template <class Queue>
    [[gnu::noinline]] static void drain(Queue& queue, Arrivals& arrivals) {
        Arrivals here = arrivals;  // a local copy can stay in registers
        queue.visit([&here](int, const auto& argument) { here.take(argument); });
        arrivals = here;
    }
};

enum class Phase { enqueue, drain, both };

/// With fewer events between two reads of the clock, the reads take over 1 % of a fast queue's
/// time.
constexpr std::uint64_t fewestTimedEvents = 4000;

/// Batches of `capacity` events in one queue, or in each of several queues if one batch is too
/// small to be timed. The time is that of one event in the phase.
template <class Queue, class Drain, Phase Measured, std::uint64_t Ids = queuedEventIds>
Round eventBatchRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        const std::size_t queueCount = (fewestTimedEvents + plan.capacity - 1) / plan.capacity;
        const std::uint64_t events = queueCount * plan.capacity;
        const std::uint64_t batches = std::max<std::uint64_t>(1, plan.messages / events);
        std::vector<Queue> queues(queueCount);
        Arrivals arrivals;
        ArgumentSource<typename Queue::Argument> source;
        for (Queue& queue : queues) {
            for (std::uint64_t event = 0; event < Ids; ++event) {
                queue.add(int(event), ArrivalListener{&arrivals});
            }
        }
        Counts counts;
        Nanoseconds enqueueing = 0;
        Nanoseconds draining = 0;
        for (std::uint64_t batch = 0; batch <= batches; ++batch) {
            const Nanoseconds start = now();
            for (Queue& queue : queues) {
                counts.sentSum += enqueueMany<Ids>(queue, source, plan.capacity);
            }
            const Nanoseconds queued = now();
            for (Queue& queue : queues) {
                Drain::drain(queue, arrivals);
            }
            const Nanoseconds end = now();
            if (batch != 0) {  // the first one is the run-in
                enqueueing += queued - start;
                draining += end - queued;
            }
        }
        const Nanoseconds time = (Measured != Phase::drain ? enqueueing : 0) +
                                 (Measured != Phase::enqueue ? draining : 0);
        const std::uint64_t ends = Measured == Phase::both ? 3 : 2;
        round.time(0, time, batches * events, ends * batches);
        counts.planned = counts.attempted = counts.accepted = (batches + 1) * events;
        counts.delivered = arrivals.count();
        counts.receivedSum = arrivals.sum();
        counts.disorder = arrivals.disorder();
        return counts;
    });
}

}  // namespace sluice::bench
