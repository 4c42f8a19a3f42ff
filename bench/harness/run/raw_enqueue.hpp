#pragma once

/// \file
/// The time of a push alone, without a consumer: into a queue with room, and, as a warning, into a
/// full queue.

#include "harness/machine/allocation_count.hpp"
#include "harness/run/crew.hpp"

namespace sluice::bench {

/// Makes this many attempts. A message that was refused is also the message of the next attempt.
template <class Producer, class Message>
[[gnu::noinline]] Counts pushBatch(Producer& to, std::uint64_t attempts, std::uint64_t sequence) {
    Counts counts;
    counts.planned = attempts;
    for (std::uint64_t i = 0; i < attempts; ++i) {
        alignas(onOneLine) const Message message(0, sequence);
        sequence += counts.enter(outcome(to.tryPush(message)), message.expectedSum());
    }
    return counts;
}

/// Runs `run(round, producer, consumer)` on one thread with a queue of its own.
template <class Queue, class Run>
Round aloneRound(const RoundPlan& plan, const Run& run) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.producerCpus.front())) {
        round.error = "the producer could not be pinned to its CPU";
        return round;
    }
    const auto queue = std::make_unique<Queue>(plan.capacity, 1);
    auto producer = queue->producer();
    auto consumer = queue->consumer();
    run(round, producer, consumer);
    return round;
}

/// Batches of `plan.batch` pushes on one thread. After each batch the queue is emptied, untimed.
/// The time is that of one accepted message, because refused messages are no throughput.
template <class Queue, class Message>
Round enqueueRound(const RoundPlan& plan) {
    return aloneRound<Queue>(plan, [&](Round& round, auto& producer, auto& consumer) {
        Receipt receipt;
        Nanoseconds time = 0;
        std::uint64_t accepted = 0;
        AllocationCount allocations;
        const std::uint64_t batches = std::max<std::uint64_t>(1, plan.messages / plan.batch);
        for (std::uint64_t batch = 0; batch <= batches; ++batch) {
            const std::uint64_t allocated = allocationsSoFar();
            const Nanoseconds start = now();
            Counts counts = pushBatch<std::decay_t<decltype(producer)>, Message>(
                producer, plan.batch, round.counts.accepted);
            const Nanoseconds end = now();
            counts.queued = counts.accepted;
            if (batch != 0) {  // the first one is the run-in
                time += end - start;
                accepted += counts.accepted;
                allocations.add(allocationsSoFar() - allocated);
            }
            round.counts += counts;
            while (consumer.poll([&](const Message& message) { receipt.take(message); }) != 0) {
            }
        }
        takeSurplus<Message>(consumer, receipt);
        round.counts.delivered = receipt.count();
        round.counts.disorder = receipt.disorder();
        round.counts.receivedSum = receipt.sum();
        round.allocations = allocations.value();
        round.error = complaint(round.counts, plan.ordered, false);
        round.time(0, time, std::max<std::uint64_t>(1, accepted), 2 * batches);
    });
}

/// Raw enqueue: every message has room. Other plans are refused.
template <class Queue, class Message>
Round rawEnqueueRound(const RoundPlan& plan) {
    if (plan.batch > plan.capacity) {
        Round round;
        round.error = "raw enqueue of " + std::to_string(plan.batch) + " messages into room for " +
                      std::to_string(plan.capacity) + ": refusals would count as throughput";
        return round;
    }
    return enqueueRound<Queue, Message>(plan);
}

/// The overflow demonstration: far more messages than there is room for.
template <class Queue, class Message>
Round overflowRound(const RoundPlan& plan) {
    return enqueueRound<Queue, Message>(plan);
}

}  // namespace sluice::bench
