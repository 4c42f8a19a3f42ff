#pragma once

/// \file
/// The losses of each priority while no thread consumes.

#include "harness/run/raw_enqueue.hpp"

#include <cstdint>
#include <memory>

namespace sluice::bench {

/// Of ten messages, so many are of high and medium priority, and the rest of low.
struct Mix {
    unsigned high = 2;
    unsigned medium = 3;
};

constexpr Urgency urgencyIn(const Mix& mix, std::uint64_t index) noexcept {
    const std::uint64_t digit = index % 10;
    return digit < mix.high                ? Urgency::high
           : digit < mix.high + mix.medium ? Urgency::medium
                                           : Urgency::low;
}

/// Adds what becomes of `plan.messages` messages of one mix, each pushed once into the empty queue.
template <class Message, class Producer, class Consumer>
void overloadBy(const Mix& mix, const RoundPlan& plan, Producer& producer, Consumer& consumer,
                Round& round, Counts& all) {
    for (std::uint64_t index = 0; index < plan.messages; ++index) {
        alignas(onOneLine) const Message message(0, index);
        const Urgency urgency = urgencyIn(mix, index);
        const Push push = outcome(producer.tryPush(message, urgency));
        all.enter(push, 0);
        if (urgency == plan.urgency) {
            round.counts.enter(push, message.expectedSum());
        }
    }
    Receipt receipt;
    const auto take = [&](const Message& message) {
        if (urgencyIn(mix, message.sequence()) == plan.urgency) {
            receipt.take(message);
        }
    };
    while (consumer.poll(take) != 0) {
    }
    round.counts.delivered += receipt.count();
    round.counts.receivedSum += receipt.sum();
}

/// One thread overloads the queue by the usual mix, or by all 66 mixes in steps of 10 %, one after
/// another. The counts are for the watched urgency. The time is that of one accepted message.
template <class Queue, class Message>
Round overloadRound(const RoundPlan& plan) {
    return aloneRound<Queue>(plan, [&](Round& round, auto& producer, auto& consumer) {
        Counts all;
        const Nanoseconds start = now();
        if (plan.allMixes) {
            for (unsigned high = 0; high <= 10; ++high) {
                for (unsigned medium = 0; high + medium <= 10; ++medium) {
                    overloadBy<Message>({high, medium}, plan, producer, consumer, round, all);
                }
            }
        } else {
            overloadBy<Message>({}, plan, producer, consumer, round, all);
        }
        round.time(start, now(), std::max<std::uint64_t>(1, all.accepted));
        round.counts.planned = round.counts.attempted;
        round.counts.queued = round.counts.accepted;
        round.error = complaint(round.counts, false, false);
    });
}

}  // namespace sluice::bench
