#pragma once

/// \file
/// Rounds of the actor scenarios: objects whose handlers run on threads of their library.
///
/// A library under test is an adapter with some of these classes:
///
///     template <class Message>
///     class Receiver {  // an object with a thread of its own, which the constructor starts
///         Receiver(std::size_t capacity, Handled& handled);
///         bool tryPush(const Message& message);  // or Push; its handler calls handled.take()
///     };
///     class Replier {   // the same, for requests
///         Replier();
///         std::uint64_t ask(std::uint64_t number);  // waits for the reply: number + 1
///     };
///     class Ring {      // objects that share threads
///         Ring(std::size_t objects, std::size_t threads);
///         std::uint64_t pass(std::uint64_t hops);  // a token goes round; returns the hops it made
///     };
///
/// The thread that makes a Receiver or a Replier is tied to the consumer's CPU, and so is a thread
/// that it starts.

#include "harness/machine/allocation_count.hpp"
#include "harness/machine/cpu_time.hpp"
#include "harness/run/child.hpp"
#include "harness/run/crew.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/statistics/statistics.hpp"

#include <sluice/base/platform.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::bench {

using SmallActorMessage = Message<16>;
using ActorMessage = Message<64>;
using LargeActorMessage = Message<1024>;

/// The handled messages of an object. It notifies the thread of the round after the run-in and at
/// the end.
class Handled {
public:
    Handled(std::uint64_t runIn, std::uint64_t all) noexcept : runIn_(runIn), all_(all) {}

    /// Called by the object's thread.
    template <class Message>
    void take(const Message& message) {
        if (receipt_.count() == nextNoted_) {
            arrivals_->push_back(now());
            nextNoted_ += stride_;
        }
        receipt_.take(message);
        if (isFollowed_) {
            seen_.store(receipt_.count(), std::memory_order_release);
        }
        if (receipt_.count() == runIn_ || receipt_.count() == all_) {
            finish_ = now();
            tell(receipt_.count());
        }
    }

    /// Call it before the object is made. After the run-in, the object's thread appends the arrival
    /// of each `stride`-th message. `arrivals` must have room for all arrivals.
    void noteArrivals(std::vector<Nanoseconds>& arrivals, std::uint64_t stride) noexcept {
        arrivals_ = &arrivals;
        stride_ = stride;
        nextNoted_ = runIn_;
    }
    /// Call it before the object is made. Then seen() counts.
    void follow() noexcept { isFollowed_ = true; }
    /// How many messages have been handled.
    [[nodiscard]] std::uint64_t seen() const noexcept {
        return seen_.load(std::memory_order_acquire);
    }

    // ---- The thread of the round, which sleeps: it shares a CPU with the object

    /// Waits until `count` messages were handled. Returns false if this takes too long.
    [[nodiscard]] bool await(std::uint64_t count, double atMostNs) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::nanoseconds(std::int64_t(atMostNs)),
                                 [&] { return told_ >= count; });
    }
    /// The time at which the last message was handled. Call it after await().
    [[nodiscard]] Nanoseconds finish() const noexcept { return finish_; }
    /// Call it after the end of the object.
    [[nodiscard]] const Receipt& receipt() const noexcept { return receipt_; }

private:
    void tell(std::uint64_t count) {
        const std::lock_guard lock(mutex_);
        told_ = count;
        changed_.notify_all();
    }

    const std::uint64_t runIn_;
    const std::uint64_t all_;
    Receipt receipt_;
    Nanoseconds finish_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t told_ = 0;
    std::vector<Nanoseconds>* arrivals_ = nullptr;
    std::uint64_t stride_ = 1;
    std::uint64_t nextNoted_ = UINT64_MAX;
    bool isFollowed_ = false;
    std::atomic<std::uint64_t> seen_{0};
};

/// Pushes a refused message again at once. Idle does the waiting.
struct NoPacing {
    static void full() noexcept {}
};

/// From the common start of the senders to the end of the last handler, divided by the messages.
template <class Receiver, class Message>
Round postRound(const RoundPlan& plan) {
    Round round;
    const Placement& placement = plan.placement;
    if (!takePlace(placement, placement.consumerCpu)) {
        round.error = "the object could not be pinned to its CPU";
        return round;
    }
    RoundControl control(plan);
    std::vector<SenderBooks> books(plan.producers());
    Handled handled(plan.runIn, plan.runIn + plan.messages);
    {
        Receiver receiver(plan.capacity, handled);
        std::vector<std::thread> senders;
        for (std::size_t i = 0; i < plan.producers(); ++i) {
            senders.emplace_back([&, i] {
                SenderBooks& own = books[i];
                own.pinned = takePlace(placement, placement.producerCpus[i]);
                const std::uint64_t runIn = shareOf(plan.runIn, i, plan.producers());
                const std::uint64_t timed = shareOf(plan.messages, i, plan.producers());
                sendRange<Message, NoPacing>(receiver, i, 0, runIn, own, control);
                control.barrier.arriveAndWait();
                control.barrier.arriveAndWait();
                own.startedAt = now();
                sendRange<Message, NoPacing>(receiver, i, runIn, runIn + timed, own, control);
            });
        }
        // A sustained round takes the planned time, or longer if the machine is slower than at the
        // calibration.
        const double atMostNs = plan.stallNs + 4 * plan.sendingNs;
        const auto await = [&](std::uint64_t count) {
            if (!handled.await(count, atMostNs)) {
                control.abandon();
            }
        };
        await(plan.runIn);
        control.barrier.arriveAndWait();
        const std::uint64_t allocated = allocationsSoFar();
        control.barrier.arriveAndWait();
        await(plan.runIn + plan.messages);
        for (std::thread& sender : senders) {
            sender.join();
        }
        AllocationCount allocations;
        allocations.add(allocationsSoFar() - allocated);
        round.allocations = allocations.value();
    }
    Nanoseconds start = handled.finish();
    for (const SenderBooks& sender : books) {
        start = std::min(start, sender.startedAt);
    }
    round.time(start, handled.finish(), plan.messages);
    settle(round, plan, books, handled.receipt(), control);
    return round;
}

/// The time from a single post until the handler runs. Before the post, the object rests for
/// `plan.restNs`.
template <class Receiver>
Round delayRound(const RoundPlan& plan) {
    Round round;
    const Placement& placement = plan.placement;
    bool isPinned = takePlace(placement, placement.consumerCpu);
    const RoundControl control(plan);
    std::vector<SenderBooks> books(1);
    std::vector<Nanoseconds> sentAt(std::size_t(plan.messages), 0);
    std::vector<Nanoseconds> arrivals;
    arrivals.reserve(std::size_t(plan.messages));
    Handled handled(0, plan.messages);
    handled.noteArrivals(arrivals, 1);
    handled.follow();
    {
        Receiver receiver(plan.capacity, handled);
        isPinned = isPinned && takePlace(placement, placement.producerCpus.front());
        NoPacing pacing;
        Nanoseconds latest = now();
        for (std::uint64_t i = 0; i < plan.messages; ++i) {
            const Nanoseconds due = now() + Nanoseconds(plan.restNs);
            while (now() < due) {
                cpuPause();
            }
            sentAt[i] = now();
            (void)pushWaiting<ActorMessage>(receiver, 0, i, pacing, books[0].counts, control);
            while (handled.seen() <= i && double(now() - sentAt[i]) < plan.stallNs) {
                control.idle();
            }
            latest = now();
        }
        for (std::size_t i = 0; i < sentAt.size(); ++i) {
            // A message that did not arrive has waited until now.
            round.samples.push_back(
                double((i < handled.seen() ? arrivals[i] : latest) - sentAt[i]));
            round.timedOut += round.samples.back() > plan.timeoutNs;
        }
    }
    books[0].counts.planned = plan.messages;
    round.ns = median(round.samples);
    settle(round, plan, books, handled.receipt(), control);
    if (!isPinned) {
        round.error = "a thread could not be pinned to its CPU";
    }
    return round;
}

/// Latency under load, open loop: from the intended send time of a message until its handler runs.
/// Every `plan.probeStride`-th message is a probe.
template <class Receiver>
Round loadedDelayRound(const RoundPlan& plan) {
    constexpr Nanoseconds leadTime = 100000;
    Round round;
    const Placement& placement = plan.placement;
    bool isPinned = takePlace(placement, placement.consumerCpu);
    const RoundControl control(plan);
    std::vector<SenderBooks> books(1);
    std::vector<Nanoseconds> arrivals;
    // Filled and emptied, so that no page is new while the clock runs.
    arrivals.resize(std::size_t(plan.messages / plan.probeStride + 1), 1);
    arrivals.clear();
    Handled handled(plan.runIn, plan.runIn + plan.messages);
    handled.noteArrivals(arrivals, plan.probeStride);
    SendSchedule schedule{0, plan.intervalNs, nullptr};
    Lateness lateness;
    {
        Receiver receiver(plan.capacity, handled);
        isPinned = isPinned && takePlace(placement, placement.producerCpus.front());
        sendRange<ActorMessage, NoPacing>(receiver, 0, 0, plan.runIn, books[0], control);
        bool isComplete = handled.await(plan.runIn, plan.stallNs);
        schedule.start = now() + leadTime;
        lateness = sendOnSchedule<ActorMessage, NoPacing, SteadyClock>(receiver, plan, schedule,
                                                                       books[0], control);
        isComplete = handled.await(plan.runIn + plan.messages, plan.stallNs) && isComplete;
        if (!isComplete) {
            round.error = "given up: nothing was handled any more";
        }
    }
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        round.samples.push_back(double(arrivals[i] - schedule.intended(i * plan.probeStride)));
        round.timedOut += round.samples.back() > plan.timeoutNs;
    }
    round.intervalNs = plan.intervalNs;
    round.lateSends = lateness.sends;
    round.behindSchedule = lateness.endNs > 0.01 * plan.intervalNs * double(plan.messages);
    round.ns = round.samples.empty() ? 0 : median(round.samples);
    settle(round, plan, books, handled.receipt(), control);
    if (!isPinned) {
        round.error = "a thread could not be pinned to its CPU";
    }
    return round;
}

/// Enters the numbers of things that were asked for and done.
inline void enterDone(Round& round, std::uint64_t asked, std::uint64_t done) {
    round.counts.planned += asked;
    round.counts.attempted += asked;
    round.counts.accepted += asked;
    round.counts.delivered += done;
    round.error = complaint(round.counts, true);
}

/// A request and its reply, one after the other.
template <class Replier>
Round requestRound(const RoundPlan& plan) {
    Round round;
    const Placement& placement = plan.placement;
    bool isPinned = takePlace(placement, placement.consumerCpu);
    Replier replier;
    isPinned = isPinned && takePlace(placement, placement.producerCpus.front());
    if (!isPinned) {
        round.error = "a thread could not be pinned to its CPU";
        return round;
    }
    std::uint64_t right = 0;
    const auto askAll = [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t number = first; number < end; ++number) {
            right += replier.ask(number) == number + 1 ? 1 : 0;
        }
    };
    askAll(0, plan.runIn);
    const std::uint64_t allocated = allocationsSoFar();
    const Nanoseconds start = now();
    askAll(plan.runIn, plan.runIn + plan.messages);
    round.time(start, now(), plan.messages);
    AllocationCount allocations;
    allocations.add(allocationsSoFar() - allocated);
    round.allocations = allocations.value();
    enterDone(round, plan.runIn + plan.messages, right);
    return round;
}

/// The threads of a ring run on two CPUs, wherever the system puts them.
inline constexpr std::size_t ringThreads = 2;

/// One token goes round a ring of `plan.capacity` objects.
template <class Ring>
Round ringRound(const RoundPlan& plan) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.consumerCpu)) {
        round.error = "the thread of the round could not take its place";
        return round;
    }
    Ring ring(plan.capacity, ringThreads);
    std::uint64_t made = ring.pass(plan.runIn);
    const std::uint64_t allocated = allocationsSoFar();
    const Nanoseconds start = now();
    made += ring.pass(plan.messages);
    round.time(start, now(), plan.messages);
    AllocationCount allocations;
    allocations.add(allocationsSoFar() - allocated);
    round.allocations = allocations.value();
    enterDone(round, plan.runIn + plan.messages, made);
    return round;
}

/// The MiB by which a process grows with `plan.capacity` objects, after each has handled a message.
template <class Ring>
Round idleObjectsRound(const RoundPlan& plan) {
    return inChild([&plan](Round& round) {
        const Ring small(1, ringThreads);  // makes the threads and tables
        const double before = residentMiB();
        Ring ring(plan.capacity, ringThreads);
        const std::uint64_t made = ring.pass(plan.capacity);
        round.ns = residentMiB() - before;
        enterDone(round, plan.capacity, made);
    });
}

/// Processor time that the library's threads take in a second in which `plan.capacity` objects have
/// nothing to do. The thread that measures does not count. The result is at least 1 us, because two
/// clocks are read one after the other.
template <class Ring>
Round idleCpuRound(const RoundPlan& plan) {
    return inChild([&plan](Round& round) {
        Ring ring(plan.capacity, ringThreads);
        const std::uint64_t made = ring.pass(plan.capacity);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // threads come to rest
        const double before = cpuTimeOfOthersSoFarNs();
        std::this_thread::sleep_for(std::chrono::seconds(1));
        round.ns = std::max(1000.0, cpuTimeOfOthersSoFarNs() - before);
        enterDone(round, plan.capacity, made);
    });
}

}  // namespace sluice::bench
