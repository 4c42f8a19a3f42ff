#pragma once

/// \file
/// The losses of each priority while no thread consumes.

#include "harness/run/raw_enqueue.hpp"

#include <cstdint>
#include <memory>

namespace sluice::bench {

/// Of ten messages two are of high priority, three of medium, and five of low. So each priority
/// asks for less than a queue can hold, and all together ask for more.
constexpr Urgency overloadUrgencyOf(std::uint64_t index) noexcept {
    const std::uint64_t digit = index % 10;
    return digit < 2 ? Urgency::high : digit < 5 ? Urgency::medium : Urgency::low;
}

/// One thread pushes each of `plan.messages` messages once into an empty queue. The counts are for
/// the watched urgency. The time is that of one accepted message of any urgency.
template <class Queue, class Message>
Round overloadRound(const RoundPlan& plan) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.producerCpus.front())) {
        round.error = "the producer could not be pinned to its CPU";
        return round;
    }
    const auto queue = std::make_unique<Queue>(plan.capacity, 1);
    auto producer = queue->producer();
    auto consumer = queue->consumer();
    Counts all;
    const Nanoseconds start = now();
    for (std::uint64_t index = 0; index < plan.messages; ++index) {
        alignas(onOneLine) const Message message(0, index);
        const Urgency urgency = overloadUrgencyOf(index);
        const Push push = outcome(producer.tryPush(message, urgency));
        all.enter(push, 0);
        if (urgency == plan.urgency) {
            round.counts.enter(push, message.expectedSum());
        }
    }
    round.time(start, now(), std::max<std::uint64_t>(1, all.accepted));
    Receipt receipt;
    const auto take = [&](const Message& message) {
        if (overloadUrgencyOf(message.sequence()) == plan.urgency) {
            receipt.take(message);
        }
    };
    while (consumer.poll(take) != 0) {
    }
    round.counts.planned = round.counts.attempted;
    round.counts.queued = round.counts.accepted;
    round.counts.delivered = receipt.count();
    round.counts.receivedSum = receipt.sum();
    round.error = complaint(round.counts, false, false);
    return round;
}

}  // namespace sluice::bench
