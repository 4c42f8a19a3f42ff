#pragma once

/// \file
/// The threads of one round: one consumer and its producers.
///
/// A queue under test is an adapter, a class `Queue` for one message type:
///
///     Queue(std::size_t capacity, std::size_t producers);
///     Producer producer();  // called by the thread that will push
///     Consumer consumer();  // called by the thread that will poll
///     bool Producer::tryPush(const Message& message);  // or Push, if it drops by a policy
///     std::size_t Consumer::poll(handler);
///
/// poll() hands every message that it takes to `handler(const Message&)`, and returns their number.
/// A pacing policy has `polled(std::size_t)`, called after each poll with its result, and
/// `full()`, called after each refused push. No adapter waits: Idle waits for all.

#include "harness/machine/affinity.hpp"
#include "harness/machine/clock.hpp"
#include "harness/machine/idle.hpp"
#include "harness/run/barrier.hpp"
#include "harness/run/message.hpp"
#include "harness/run/round.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::bench {

/// The objects that the threads of one round share besides the queue.
class RoundControl {
public:
    explicit RoundControl(const RoundPlan& plan)
        : barrier(plan.producers() + 1),
          idle(plan.placement.oversubscribed),
          stallNs_(plan.stallNs) {}

    StartBarrier barrier;
    const Idle idle;

    double stallNs() const noexcept { return stallNs_; }

    // Relaxed: the flag only ends loops. The barrier orders all later reads.
    void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
    bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }

private:
    const double stallNs_;
    std::atomic<bool> abandoned_{false};
};

/// The books of one producer thread. Other threads use them only after this thread has ended.
struct alignas(128) SenderBooks {
    Counts counts;
    Nanoseconds startedAt = 0;
    bool pinned = true;
};

/// How many of `total` messages producer `index` of `producers` sends.
inline std::uint64_t shareOf(std::uint64_t total, std::size_t index,
                             std::size_t producers) noexcept {
    return total / producers + (index < total % producers ? 1 : 0);
}

/// Pushes message `sequence` of a producer until it is taken. Returns false if the round was
/// abandoned. Inlined for all subjects, so that no subject pays for a call that another does not
/// make.
template <class Message, class Producer, class PacingPolicy>
[[gnu::always_inline]] inline bool pushWaiting(Producer& to, std::size_t producer,
                                               std::uint64_t sequence, PacingPolicy& pacing,
                                               Counts& counts, const RoundControl& control) {
    alignas(onOneLine) const Message message(producer, sequence);
    for (;;) {
        if (counts.enter(outcome(to.tryPush(message)), message.expectedSum())) {
            return true;
        }
        if (control.abandoned()) {
            return false;
        }
        pacing.full();
        control.idle();
    }
}

/// Pushes the messages `first` to `end` (exclusive) of one producer as fast as the queue takes
/// them.
template <class Message, class PacingPolicy, class Producer>
void sendRange(Producer& to, std::size_t producer, std::uint64_t first, std::uint64_t end,
               SenderBooks& books, const RoundControl& control) {
    PacingPolicy pacing;
    Counts counts;
    for (std::uint64_t sequence = first; sequence < end; ++sequence) {
        if (!pushWaiting<Message>(to, producer, sequence, pacing, counts, control)) {
            break;
        }
    }
    counts.planned = end - first;
    books.counts += counts;
}

/// Notices that no message arrives any more. It reads no clock while messages flow.
class StallWatch {
public:
    explicit StallWatch(double limitNs) noexcept : limitNs_(limitNs) {}

    void delivered() noexcept { empty_ = 0; }

    bool stalled() noexcept {
        if (++empty_ % checkEvery != 0) {
            return false;
        }
        if (empty_ == checkEvery) {
            emptySince_ = now();
        }
        return double(now() - emptySince_) > limitNs_;
    }

private:
    static constexpr std::uint64_t checkEvery = 4096;

    const double limitNs_;
    std::uint64_t empty_ = 0;
    Nanoseconds emptySince_ = 0;
};

/// Polls until `receipt` has `wanted` messages. It enters each message there, and passes it to
/// `handle`. It abandons the round if no message arrives any more.
template <class Message, class PacingPolicy, class Consumer, class Handle>
void receiveUntil(Consumer& from, std::uint64_t wanted, Receipt& receipt, RoundControl& control,
                  Handle&& handle) {
    // A local copy can stay in registers. Through the reference, each queue that publishes its
    // progress would have to write the books to memory after each message, and the entry of one
    // message would wait for the one before.
    Receipt books = receipt;
    const auto enter = [&](const Message& message) {
        books.take(message);
        handle(message);
    };
    PacingPolicy pacing;
    StallWatch watch(control.stallNs());
    while (books.count() < wanted) {
        const std::size_t taken = from.poll(enter);
        pacing.polled(taken);
        if (taken != 0) {
            watch.delivered();
            continue;
        }
        if (control.abandoned() || watch.stalled()) {
            control.abandon();
            break;
        }
        control.idle();
    }
    receipt = books;
}

/// Polls a queue that should be empty, so that surplus messages at the end are counted, too.
template <class Message, class Consumer>
void takeSurplus(Consumer& from, Receipt& receipt) {
    constexpr int polls = 3;
    for (int i = 0; i < polls; ++i) {
        (void)from.poll([&](const Message& message) { receipt.take(message); });
    }
}

/// Fills in the sums of the books when all threads have ended.
inline void settle(Round& round, const RoundPlan& plan, const std::vector<SenderBooks>& books,
                   const Receipt& receipt, const RoundControl& control) {
    for (const SenderBooks& sender : books) {
        round.counts += sender.counts;
        if (!sender.pinned) {
            round.error = "a producer could not be pinned to its CPU";
        }
    }
    round.counts.delivered = receipt.count();
    round.counts.disorder = receipt.disorder();
    round.counts.receivedSum = receipt.sum();
    if (round.error.empty()) {
        round.error = complaint(round.counts, plan.ordered, plan.retried);
    }
    if (round.error.empty() && control.abandoned()) {
        round.error = "given up: nothing was delivered any more";
    }
}

/// Runs one round. Each producer thread runs `produce(producer, index, books, control)`. The
/// consumer runs `consume(consumer, receipt, control)`. Both must pass the same barriers, also if
/// the round is abandoned. `afterwards(books)` gets the producers' books before the queue is
/// destroyed.
template <class Message, class Queue, class Produce, class Consume, class Afterwards>
Round runCrew(const RoundPlan& plan, Produce&& produce, Consume&& consume,
              Afterwards&& afterwards) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.consumerCpu)) {
        round.error = "the consumer could not be pinned to its CPU";
        return round;
    }
    RoundControl control(plan);
    const auto queue = std::make_unique<Queue>(plan.capacity, plan.producers());
    std::vector<SenderBooks> books(plan.producers());
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < plan.producers(); ++index) {
        threads.emplace_back([&, index] {
            books[index].pinned = takePlace(plan.placement, plan.placement.producerCpus[index]);
            if (!books[index].pinned) {
                control.abandon();
            }
            auto producer = queue->producer();
            produce(producer, index, books[index], control);
            control.barrier.arriveAndWait();
        });
    }
    Receipt receipt;
    // The consumer has a stack of its own, because its writes must not share a cache line with the
    // objects that producers read here. It has the CPU of this thread.
    threads.emplace_back([&] {
        Receipt taken;
        auto consumer = queue->consumer();
        consume(consumer, taken, control);
        control.barrier.arriveAndWait();
        takeSurplus<Message>(consumer, taken);
        receipt = taken;
    });
    for (std::thread& thread : threads) {
        thread.join();
    }
    settle(round, plan, books, receipt, control);
    afterwards(round, books);
    return round;
}

}  // namespace sluice::bench
