#pragma once

/// \file
/// The waiting times and losses of each priority while producers send more than the consumer can
/// handle.

#include "harness/run/crew.hpp"
#include "harness/run/send_schedule.hpp"
#include "harness/statistics/statistics.hpp"

#include <atomic>

namespace sluice::bench {

/// Of ten messages, one is urgent, three are of medium priority, and six are of low priority. So at
/// twice the consumer's capacity, only messages of low priority must be lost.
constexpr Urgency urgencyOf(std::uint64_t index) noexcept {
    const std::uint64_t digit = index % 10;
    return digit == 0 ? Urgency::high : digit % 3 == 0 ? Urgency::medium : Urgency::low;
}

/// One round with one producer, which sends at `plan.load` times the consumer's rate. The consumer
/// handles a message in `plan.handleNs`. No message is sent twice. A sample is the time from the
/// intended send time of a message of the watched urgency to the begin of its handler. Producers of
/// the queue also have `tryPush(message, urgency)`.
template <class Queue, class Message, class PacingPolicy>
Round floodRound(const RoundPlan& plan) {
    constexpr Nanoseconds leadTime = 100000;
    SendSchedule schedule{0, plan.handleNs / plan.load, nullptr};
    std::vector<double> samples;
    // Filled and emptied, so that no page is new while the clock runs.
    samples.resize(std::size_t(plan.messages), -1.0);
    samples.clear();
    std::uint64_t lost = 0;
    std::atomic<bool> isAllSent{false};

    const auto produce = [&](auto& to, std::size_t, SenderBooks& books, RoundControl& control) {
        control.barrier.arriveAndWait();
        books.startedAt = schedule.start;
        for (std::uint64_t index = 0; index < plan.messages; ++index) {
            while (now() < schedule.intended(index)) {
            }
            alignas(onOneLine) const Message message(0, index);
            const Urgency urgency = urgencyOf(index);
            const bool taken =
                books.counts.enter(outcome(to.tryPush(message, urgency)), message.expectedSum());
            lost += !taken && urgency == plan.urgency;
        }
        books.counts.planned = plan.messages;
        // Release: a thread that reads true finds all messages.
        isAllSent.store(true, std::memory_order_release);
    };
    const auto consume = [&](auto& from, Receipt& receipt, RoundControl& control) {
        schedule.start = now() + leadTime;
        control.barrier.arriveAndWait();
        const auto handle = [&](const Message& message) {
            const Nanoseconds begin = now();
            receipt.take(message);
            if (urgencyOf(message.sequence()) == plan.urgency) {
                samples.push_back(double(begin - schedule.intended(message.sequence())));
            }
            while (double(now() - begin) < plan.handleNs) {
            }
        };
        PacingPolicy pacing;
        for (;;) {
            const bool isLast = isAllSent.load(std::memory_order_acquire);
            const std::size_t taken = from.poll(handle);
            pacing.polled(taken);
            if (taken == 0 && isLast) {
                break;
            }
            if (taken == 0) {
                control.idle();
            }
        }
    };
    const auto judge = [&](Round& round, const std::vector<SenderBooks>&) {
        round.lost = lost;
        round.intervalNs = schedule.intervalNs;
        round.ns = samples.empty() ? 0 : median(samples);
        round.samples = std::move(samples);
    };
    return runCrew<Message, Queue>(plan, produce, consume, judge);
}

}  // namespace sluice::bench
