#pragma once

/// \file
/// Bursts into an empty queue whose consumer is awake, timed from the first push to the last
/// delivery.

#include "harness/run/crew.hpp"

namespace sluice::bench {

/// Bursts of `plan.batch` messages, `plan.messages` together. The threads meet before each burst,
/// when the queue is empty. This is not timed.
template <class Queue, class Message, class PacingPolicy>
Round burstRound(const RoundPlan& plan) {
    const std::size_t bursts = std::size_t(plan.messages / plan.batch);
    std::vector<Nanoseconds> starts(bursts);
    std::vector<Nanoseconds> ends(bursts);

    const auto produce = [&](auto& to, std::size_t, SenderBooks& books, RoundControl& control) {
        sendRange<Message, PacingPolicy>(to, 0, 0, plan.runIn, books, control);
        std::uint64_t first = plan.runIn;
        for (Nanoseconds& start : starts) {
            control.barrier.arriveAndWait();
            start = now();
            sendRange<Message, PacingPolicy>(to, 0, first, first + plan.batch, books, control);
            first += plan.batch;
        }
    };
    const auto consume = [&](auto& from, Receipt& receipt, RoundControl& control) {
        std::uint64_t wanted = plan.runIn;
        const auto receive = [&] {
            receiveUntil<Message, PacingPolicy>(from, wanted, receipt, control,
                                                [](const Message&) {});
        };
        receive();
        for (Nanoseconds& end : ends) {
            control.barrier.arriveAndWait();
            wanted += plan.batch;
            receive();
            end = now();
        }
    };
    const auto time = [&](Round& round, const std::vector<SenderBooks>&) {
        Nanoseconds sum = 0;
        for (std::size_t i = 0; i < bursts; ++i) {
            sum += ends[i] - starts[i];
        }
        round.time(0, sum, bursts * plan.batch, 2 * bursts);
    };
    return runCrew<Message, Queue>(plan, produce, consume, time);
}

}  // namespace sluice::bench
