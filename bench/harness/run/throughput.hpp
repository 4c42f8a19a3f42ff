#pragma once

/// \file
/// End-to-end throughput: from the barrier to the last delivery, divided by the messages delivered.

#include "harness/machine/allocation_count.hpp"
#include "harness/run/crew.hpp"

namespace sluice::bench {

/// One throughput round of `Queue` with `PacingPolicy` on both sides.
template <class Queue, class Message, class PacingPolicy>
Round throughputRound(const RoundPlan& plan) {
    Nanoseconds consumerStart = 0;
    Nanoseconds finish = 0;
    AllocationCount allocations;
    const std::uint64_t all = plan.runIn + plan.messages;

    const auto produce = [&](auto& to, std::size_t index, SenderBooks& books,
                             RoundControl& control) {
        const std::uint64_t runIn = shareOf(plan.runIn, index, plan.producers());
        const std::uint64_t timed = shareOf(plan.messages, index, plan.producers());
        sendRange<Message, PacingPolicy>(to, index, 0, runIn, books, control);
        control.barrier.arriveAndWait();
        books.startedAt = now();
        sendRange<Message, PacingPolicy>(to, index, runIn, runIn + timed, books, control);
    };
    const auto consume = [&](auto& from, Receipt& receipt, RoundControl& control) {
        const auto nothingMore = [](const Message&) {};
        receiveUntil<Message, PacingPolicy>(from, plan.runIn, receipt, control, nothingMore);
        control.barrier.arriveAndWait();
        const std::uint64_t allocated = allocationsSoFar();
        consumerStart = now();
        receiveUntil<Message, PacingPolicy>(from, all, receipt, control, nothingMore);
        finish = now();
        allocations.add(allocationsSoFar() - allocated);
    };
    const auto time = [&](Round& round, const std::vector<SenderBooks>& books) {
        Nanoseconds start = consumerStart;
        for (const SenderBooks& sender : books) {
            start = std::min(start, sender.startedAt);
        }
        round.time(start, finish, plan.messages);
        round.allocations = allocations.value();
    };
    return runCrew<Message, Queue>(plan, produce, consume, time);
}

}  // namespace sluice::bench
