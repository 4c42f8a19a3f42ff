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
/// one lane at a time, so the messages of a producer are handled one after another.
///
///     sluice::MpmcLanes<Job> lanes(256);              // the capacity of each lane
///     auto producer = lanes.producer();               // one per thread
///     (void)producer.tryPush(job);
///     lanes.consume([](Job& job) { job.run(); }, 32);  // each worker, 32 jobs of one lane at most
///
/// Use MpmcLanes for a few long-lived producers whose messages several threads handle. Use MpmcRing
/// if all messages need one order, if several threads handle one producer's messages in parallel,
/// or if producers share a capacity. Use MpscLanes for one consumer, and BlockingQueue to wait.
///
/// Order: none across producers. consume() handles a producer's messages one after another, on any
/// thread. After tryPop(), another consumer may take the same lane's next message immediately.
///
/// Thread safety: as for MpscLanes, except that any thread may consume. A handler may call
/// consume(), which takes messages of other lanes. A consumer preempted in a handler delays its
/// lane's messages, and the lane's pushes may return `full`. A consumer preempted in its search for
/// a lane blocks other consumers.
///
/// Errors: as for MpscLanes. If a handler throws, later messages stay in the lane.
///
/// Performance: a push costs the same as in MpscLanes. Each consume() takes one atomic
/// read-modify-write, to lock the list of lanes during its search.
template <class T, class Traits = QueueTraits>
class MpmcLanes : private MpscLanes<T, Traits> {
    using Lanes = MpscLanes<T, Traits>;
    using typename Lanes::Guard;
    using typename Lanes::Lane;

public:
    using typename Lanes::Producer;
    using typename Lanes::value_type;
    static constexpr bool manyConsumers = true;

    /// Calls setupError() if the capacity is 0 or too large.
    explicit MpmcLanes(std::size_t capacityOfLane,
                       std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : Lanes(capacityOfLane, memory) {}

    // ---- Producers: as in MpscLanes

    using Lanes::producer;

    // ---- Consumers

    /// Removes and returns a message of the next lane that has messages and no other consumer.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if no message was found.
    bool tryPop(std::optional<T>& value) {
        static_assert(std::is_nothrow_move_constructible_v<T>,
                      "tryPop() of MpmcLanes would lose a message whose move constructor throws: "
                      "declare the move constructor noexcept, or use consume()");
        return consume([&value](T& message) { value.emplace(std::move(message)); }, 1) != 0;
    }

    /// Takes the next lane that has messages and no other consumer. Calls handler(T&) for up to
    /// `max` messages queued in this lane, oldest first. A message is destroyed when its handler
    /// returns or throws. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        Lane* const lane = max == 0 ? nullptr : hold();  // max 0 must not hide a lane
        if (lane == nullptr) {
            return 0;
        }
        const Holding holding{*lane};
        return lane->ring.consume(std::forward<Handler>(handler), max);
    }

    /// Returns true if consume() would find a message, unless another consumer takes it first.
    [[nodiscard]] bool hasArrival() const noexcept {
        const Guard guard(lock_);
        for (Lane* lane = this->first(guard); lane != nullptr; lane = lane->following(guard)) {
            // Relaxed: hint.
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
    // Happens-before edges in addition to MpscLanes's (proof: docs/algorithms/lanes.md):
    //   E7 hold: consumer -> consumer.
    // lock_ guards link_. Other consumers cannot find messages of a held lane, so after consume(),
    // the caller must wake a waiting consumer if hasArrival() returns true.

    using Lanes::lock_;

    struct Holding {
        Lane& lane;
        ~Holding() { lane.isHeld.store(false, std::memory_order_release); }  // E7 hold
    };

    /// Holds the next lane with messages and no consumer, if any. Removes abandoned empty lanes.
    Lane* hold() noexcept {
        Lane* held = nullptr;
        Lane* removed = nullptr;  // freed after unlocking, because freeing runs user code
        {
            const Guard guard(lock_);
            for (std::size_t visits = laneCount(); visits != 0 && held == nullptr; --visits) {
                Lane& lane = *this->current();
                const bool wasAbandoned = lane.isAbandoned();  // if true, no later push can occur
                const bool isFree = !lane.isHeld.load(std::memory_order_acquire);  // E7 hold
                if (isFree && lane.ring.hasArrival()) {
                    lane.isHeld.store(true, std::memory_order_relaxed);  // under the lock
                    held = &lane;
                } else if (isFree && wasAbandoned) {
                    this->unlink(lane, guard);
                    lane.next.store(std::exchange(removed, &lane),
                                    std::memory_order_relaxed);  // own variable
                    continue;
                }
                this->link_ = &lane.next;
            }
        }
        while (removed != nullptr) {
            Lane& lane = *removed;
            removed = lane.next.load(std::memory_order_relaxed);  // own variable
            Lane::unref(lane, Lane::queueGone);
        }
        return held;
    }
};

}  // namespace sluice
