#pragma once

/// \file
/// Throughput of a queue whose consumers share the messages: from the first push to the last
/// delivery, divided by the messages delivered.

#include "harness/run/crew.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace sluice::bench {

/// One round of `Queue` with as many consumers as producers. Consumer i runs on the CPU of producer
/// i. Each message is counted and its content checked. Its order is not checked, because the
/// consumers run at the same time.
template <class Queue, class Message, class PacingPolicy>
Round sharingRound(const RoundPlan& plan) {
    struct alignas(128) ConsumerBooks {
        Receipt receipt;
        Nanoseconds finishedAt = 0;
        bool pinned = true;
    };
    const std::size_t pairs = plan.producers();
    RoundControl control(plan);
    StartBarrier barrier(2 * pairs);
    Queue queue(plan.capacity, pairs);
    std::vector<SenderBooks> senders(pairs);
    std::vector<ConsumerBooks> receivers(pairs);
    alignas(128) std::atomic<std::uint64_t> delivered{0};

    const auto send = [&](std::size_t index) {
        SenderBooks& books = senders[index];
        books.pinned = takePlace(plan.placement, plan.placement.producerCpus[index]);
        auto producer = queue.producer();
        barrier.arriveAndWait();
        books.startedAt = now();
        sendRange<Message, PacingPolicy>(producer, index, 0, shareOf(plan.messages, index, pairs),
                                         books, control);
    };
    const auto receive = [&](std::size_t index) {
        ConsumerBooks& books = receivers[index];
        books.pinned = takePlace(plan.placement, plan.placement.producerCpus[index]);
        auto consumer = queue.consumer();
        barrier.arriveAndWait();
        Receipt receipt;
        PacingPolicy pacing;
        StallWatch watch(control.stallNs());
        // Relaxed: the count only ends the loop, and join() orders the books.
        while (delivered.load(std::memory_order_relaxed) < plan.messages && !control.abandoned()) {
            const std::size_t taken =
                consumer.poll([&](const Message& message) { receipt.take(message); });
            pacing.polled(taken);
            if (taken != 0) {
                delivered.fetch_add(taken, std::memory_order_relaxed);
                books.finishedAt = now();
                watch.delivered();
            } else if (watch.stalled()) {
                control.abandon();
            } else {
                control.idle();
            }
        }
        books.receipt = receipt;
    };

    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < pairs; ++index) {
        threads.emplace_back([&, index] { send(index); });
        threads.emplace_back([&, index] { receive(index); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    auto consumer = queue.consumer();
    takeSurplus<Message>(consumer, receivers[0].receipt);

    Round round;
    Nanoseconds start = senders[0].startedAt;
    Nanoseconds finish = 0;
    for (std::size_t index = 0; index < pairs; ++index) {
        round.counts += senders[index].counts;
        round.counts.delivered += receivers[index].receipt.count();
        round.counts.receivedSum += receivers[index].receipt.sum();
        start = std::min(start, senders[index].startedAt);
        finish = std::max(finish, receivers[index].finishedAt);
        if (!senders[index].pinned || !receivers[index].pinned) {
            round.error = "a thread could not be pinned to its CPU";
        }
    }
    if (round.error.empty()) {
        constexpr bool isOrdered = false;
        round.error = complaint(round.counts, isOrdered, plan.retried);
    }
    if (round.error.empty() && control.abandoned()) {
        round.error = "given up: nothing was delivered any more";
    }
    round.time(start, finish, plan.messages);
    return round;
}

}  // namespace sluice::bench
