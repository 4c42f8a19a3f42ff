#pragma once

/// \file
/// Latency under load, open loop: messages have fixed send times, and latency counts from these.

#include "harness/run/crew.hpp"
#include "harness/run/send_schedule.hpp"
#include "harness/statistics/statistics.hpp"

#include <optional>

namespace sluice::bench {

/// The lateness of a producer: its delay after the last message, and the number of messages that
/// were due before it reached them.
struct Lateness {
    double endNs = 0;
    std::uint64_t sends = 0;
};

/// Sends `plan.messages` messages at their intended times. A producer that is late sends at once,
/// without a read of the clock.
template <class Message, class PacingPolicy, class Clock, class Producer>
Lateness sendOnSchedule(Producer& to, const RoundPlan& plan, const SendSchedule& schedule,
                        SenderBooks& books, const RoundControl& control) {
    PacingPolicy pacing;
    Counts counts;
    Lateness lateness;
    Nanoseconds clock = Clock::now();
    for (std::uint64_t index = 0; index < plan.messages; ++index) {
        const Nanoseconds intended = schedule.intended(index);
        lateness.sends += clock > intended;
        while (clock < intended) {
            clock = Clock::now();
        }
        if (!pushWaiting<Message>(to, 0, plan.runIn + index, pacing, counts, control)) {
            break;
        }
    }
    counts.planned = plan.messages;
    books.counts += counts;
    lateness.endNs = double(Clock::now() - schedule.intended(plan.messages));
    return lateness;
}

/// One round with one producer. Every `plan.probeStride`-th message is a probe: its latency runs
/// from its intended send time until its handler gets it. Each latency includes one read of the
/// clock.
template <class Queue, class Message, class PacingPolicy, class Clock = SteadyClock>
Round loadedLatencyRound(const RoundPlan& plan) {
    constexpr Nanoseconds leadTime = 100000;
    std::optional<PoissonMoments> moments;
    if (plan.arrivals == ArrivalProcess::poisson) {
        moments.emplace(plan.arrivalSeed);
    }
    SendSchedule schedule{0, plan.intervalNs, moments ? &*moments : nullptr};
    Lateness lateness;
    std::vector<double> samples;
    // Filled and emptied, so that no page is new while the clock runs.
    samples.resize(std::size_t(plan.messages / plan.probeStride + 1), -1.0);
    samples.clear();

    const auto produce = [&](auto& to, std::size_t, SenderBooks& books, RoundControl& control) {
        sendRange<Message, PacingPolicy>(to, 0, 0, plan.runIn, books, control);
        control.barrier.arriveAndWait();
        books.startedAt = schedule.start;
        lateness = sendOnSchedule<Message, PacingPolicy, Clock>(to, plan, schedule, books, control);
    };
    const auto consume = [&](auto& from, Receipt& receipt, RoundControl& control) {
        receiveUntil<Message, PacingPolicy>(from, plan.runIn, receipt, control,
                                            [](const Message&) {});
        schedule.start = Clock::now() + leadTime;
        control.barrier.arriveAndWait();
        std::uint64_t probe = plan.runIn;
        receiveUntil<Message, PacingPolicy>(
            from, plan.runIn + plan.messages, receipt, control, [&](const Message& message) {
                if (message.sequence() == probe) {
                    samples.push_back(double(Clock::now() - schedule.intended(probe - plan.runIn)));
                    probe += plan.probeStride;
                }
            });
    };
    const auto judge = [&](Round& round, const std::vector<SenderBooks>&) {
        // A probe that did not arrive has timed out, too.
        round.timedOut = (plan.messages + plan.probeStride - 1) / plan.probeStride - samples.size();
        for (const double sample : samples) {
            round.timedOut += sample > plan.timeoutNs;
        }
        round.intervalNs = plan.intervalNs;
        round.lateSends = lateness.sends;
        round.behindSchedule = lateness.endNs > 0.01 * plan.intervalNs * double(plan.messages);
        round.ns = samples.empty() ? 0 : median(samples);
        round.samples = std::move(samples);
    };
    return runCrew<Message, Queue>(plan, produce, consume, judge);
}

}  // namespace sluice::bench
