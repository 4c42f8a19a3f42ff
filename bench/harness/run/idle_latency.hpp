#pragma once

/// \file
/// Latency of one message on an idle queue whose consumer is polling.

#include "harness/run/crew.hpp"
#include "harness/statistics/statistics.hpp"

#include <atomic>
#include <thread>

namespace sluice::bench {

/// The number of messages that the consumer has taken, on a cache line of its own.
struct alignas(128) Acknowledged {
    std::atomic<std::uint64_t> count{0};
};

/// One round with one producer, which sends a message, waits for its delivery, and rests before the
/// next message. It rests for one to two times `plan.restNs`, so that a message meets the consumer
/// at any point of its loop. Each latency includes one read of the clock.
template <class Queue, class Message, class PacingPolicy, class Clock = SteadyClock>
Round idleLatencyRound(const RoundPlan& plan) {
    std::vector<Nanoseconds> sentAt(std::size_t(plan.messages), 0);
    std::vector<Nanoseconds> deliveredAt(std::size_t(plan.messages), 0);
    Acknowledged delivered;

    const auto rest = [&](std::uint64_t index) {
        const double fraction = double(index * 7919 % 1000) / 1000;
        const Nanoseconds until = Clock::now() + Nanoseconds(plan.restNs * (1 + fraction));
        while (Clock::now() < until) {
            cpuPause();
        }
    };
    const auto produce = [&](auto& to, std::size_t, SenderBooks& books, RoundControl& control) {
        sendRange<Message, PacingPolicy>(to, 0, 0, plan.runIn, books, control);
        control.barrier.arriveAndWait();
        PacingPolicy pacing;
        books.counts.planned += plan.messages;
        for (std::uint64_t index = 0; index < plan.messages; ++index) {
            rest(index);
            sentAt[index] = Clock::now();
            if (!pushWaiting<Message>(to, 0, plan.runIn + index, pacing, books.counts, control)) {
                return;
            }
            while (delivered.count.load(std::memory_order_acquire) <= index &&
                   !control.abandoned()) {
                control.idle();
            }
            if (control.abandoned()) {
                return;
            }
        }
    };
    const auto consume = [&](auto& from, Receipt& receipt, RoundControl& control) {
        receiveUntil<Message, PacingPolicy>(from, plan.runIn, receipt, control,
                                            [](const Message&) {});
        control.barrier.arriveAndWait();
        receiveUntil<Message, PacingPolicy>(
            from, plan.runIn + plan.messages, receipt, control, [&](const Message& message) {
                const Nanoseconds arrival = Clock::now();
                const std::uint64_t index = message.sequence() - plan.runIn;
                if (index < deliveredAt.size()) {
                    deliveredAt[index] = arrival;
                }
                delivered.count.store(index + 1, std::memory_order_release);
            });
    };
    const auto judge = [&](Round& round, const std::vector<SenderBooks>&) {
        const Nanoseconds end = Clock::now();
        for (std::size_t i = 0; i < sentAt.size() && sentAt[i] != 0; ++i) {
            // A message that did not arrive has waited at least until now.
            const Nanoseconds arrival = deliveredAt[i] != 0 ? deliveredAt[i] : end;
            round.samples.push_back(double(arrival - sentAt[i]));
            round.timedOut += round.samples.back() > plan.timeoutNs;
        }
        round.ns = round.samples.empty() ? 0 : median(round.samples);
    };
    return runCrew<Message, Queue>(plan, produce, consume, judge);
}

}  // namespace sluice::bench
