#pragma once

#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// A multi-producer, multi-consumer queue with a bounded lane for each producer. A consumer takes
/// one lane at a time, so the messages of one producer are also handled in their order.
///
///     sluice::MpmcLanes<Job> lanes(256);              // the capacity of each lane
///     auto producer = lanes.producer();               // one per thread
///     (void)producer.tryPush(job);
///     lanes.consume([](Job& job) { job.run(); }, 32);  // each worker, 32 jobs of one lane at most
///
/// Use it for a few long-lived producers whose work several threads share. Use MpmcRing for one
/// order of all messages, for handlers of one producer's messages that run simultaneously, or if
/// producers share the room. Use MpscLanes for one consumer, BlockingQueue around it to wait.
///
/// Order: none across producers. consume() calls the handlers of one producer's messages one after
/// the other, on any thread. tryPop() releases the lane before its caller has the message.
///
/// Thread safety: that of MpscLanes, except that any thread may consume, also in a handler, which
/// finds the other lanes. A consumer preempted in a handler blocks its lane: that producer's
/// messages wait and its pushes may return `full`. A consumer preempted while it chooses a lane
/// blocks the other consumers, and no producer.
///
/// Errors: those of MpscLanes. A handler that throws leaves the rest of its batch in the lane.
///
/// Performance: a push is that of MpscLanes. A batch takes one atomic read-modify-write, by which
/// the consumer locks the list while it looks for a lane; so does a poll that finds nothing.
template <class T, class Traits = QueueTraits>
class MpmcLanes : private MpscLanes<T, Traits> {
    using Lanes = MpscLanes<T, Traits>;
    using typename Lanes::Guard;
    using typename Lanes::Lane;

public:
    using typename Lanes::Producer;
    using typename Lanes::value_type;
    static constexpr bool manyConsumers = true;

    /// Fails as setupError() describes if the capacity is 0 or too large.
    explicit MpmcLanes(std::size_t capacityOfLane,
                       std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : Lanes(capacityOfLane, memory) {}

    // ---- Producers: as in MpscLanes

    using Lanes::producer;

    // ---- Consumers

    /// Removes and returns a message of the next lane that has one and no other consumer.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but into the empty `value`. Returns false if there is no message.
    bool tryPop(std::optional<T>& value) {
        static_assert(std::is_nothrow_move_constructible_v<T>,
                      "tryPop() of MpmcLanes would lose a message whose move constructor throws: "
                      "declare the move constructor noexcept, or use consume()");
        return consume([&value](T& message) { value.emplace(std::move(message)); }, 1) != 0;
    }

    /// Takes the next lane that has messages and no other consumer, and calls handler(T&) for up to
    /// `max` of the messages that were queued in it, oldest first. Each message is destroyed when
    /// its handler returns or throws. Returns the number of messages; 0 if there is no such lane.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        Lane* const lane = max == 0 ? nullptr : hold();  // a hold in vain wakes no other
        if (lane == nullptr) {
            return 0;
        }
        const Holding holding{*lane};
        return lane->ring.consume(std::forward<Handler>(handler), max);
    }

    /// Returns true if consume() would find a message, unless another consumer took it first.
    [[nodiscard]] bool hasArrival() const noexcept {
        const Guard guard(lock_);
        for (Lane* lane = this->first(guard); lane != nullptr; lane = lane->following(guard)) {
            // Relaxed: a consumer that releases another lane asks for that lane itself.
            if (!lane->isHeld.load(std::memory_order_relaxed) && lane->ring.hasArrival()) {
                return true;
            }
        }
        return false;
    }

    // ---- Any thread: as in MpscLanes

    using Lanes::capacity;
    using Lanes::close;
    using Lanes::isClosed;
    using Lanes::isDrained;
    using Lanes::laneCapacity;
    using Lanes::laneCount;
    using Lanes::sizeApprox;

private:
    // Invariants: those of MpscLanes, but consumers read and write link_ and the links under the
    // lock, too. A consumer uses a lane's ring only while it holds the lane. It begins to hold it
    // under the lock; only a lane that no consumer holds is removed. So no consumer reaches a lane
    // that another one frees.
    //
    // Happens-before edges: those of MpscLanes, and
    //   E7 hold     batch handled -> isHeld release .. isHeld acquire -> next consumer of the lane:
    //               a synchronized hand-over of the consumer's role of its ring
    //
    // Wake-ups. A consumer that finds every lane empty or held may go to sleep while a message is
    // in a held lane, and the wake-up of that message is used up. So a consumer that has released a
    // lane calls hasArrival(), and wakes another one if that is true. That is enough, because the
    // lock orders hasArrival() with the sleeper's last search. If hasArrival() was first, the
    // search found the lane released. If the search was first, hasArrival() sees the message and
    // its caller sees that the sleeper has announced itself, because both happened before the
    // search (or the push came later, and itself wakes the sleeper).
    //
    // tests/model/mpmc_lanes_model_test.cpp weakens the order of E7, and BlockingQueue's call.

    using Lanes::lock_;

    struct Holding {
        Lane& lane;
        ~Holding() { lane.isHeld.store(false, std::memory_order_release); }  // E7 hold
    };

    /// Holds the next lane that is free and has messages, if any. Removes those before it whose
    /// producer and messages have gone.
    Lane* hold() noexcept {
        Lane* held = nullptr;
        Lane* removed = nullptr;  // freed after the lock: the memory resource is the user's
        {
            const Guard guard(lock_);
            for (std::size_t visits = laneCount(); visits != 0 && held == nullptr; --visits) {
                Lane& lane = *this->current();
                const bool wasAbandoned = lane.isAbandoned();  // first: if empty now, it stays so
                const bool isFree = !lane.isHeld.load(std::memory_order_acquire);  // E7 hold
                if (isFree && lane.ring.hasArrival()) {
                    lane.isHeld.store(true, std::memory_order_relaxed);  // read under the lock
                    held = &lane;
                } else if (isFree && wasAbandoned) {
                    this->unlink(lane, guard);
                    lane.next.store(std::exchange(removed, &lane), std::memory_order_relaxed);
                    continue;
                }
                this->link_ = &lane.next;
            }
        }
        while (removed != nullptr) {
            Lane& lane = *removed;
            removed = lane.next.load(std::memory_order_relaxed);  // written by this thread
            Lane::unref(lane, Lane::queueGone);
        }
        return held;
    }
};

}  // namespace sluice
