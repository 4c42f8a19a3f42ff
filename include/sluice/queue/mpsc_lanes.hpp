#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/queue/detail/lane_list.hpp>
#include <sluice/queue/detail/round_robin.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Carries messages from several producers, each with a lane of its own, to one consumer that
/// harvests all lanes. A push uses only its own lane: it needs no atomic read-modify-write, and no
/// two producers write the same cache line.
///
///     sluice::MpscLanes<Reading> lanes(256);           // the room of each lane
///     auto producer = lanes.producer();                // one for each thread
///     (void)producer.tryPush(Reading{21.5});
///     lanes.consume([](const Reading& reading) { ... });  // the consumer
///
/// Use it if producers live for a while and order per producer is enough. It can also merge
/// messages by a key, such as a time stamp. Use MpscRing if all messages need one order, or if
/// producers cannot keep a handle. Use BlockingQueue around it if a side must wait.
///
/// Threads: any thread calls producer(). One thread at a time uses a Producer. The consumer, one
/// thread at a time, calls tryPop, consume and consumeOrdered. Any thread calls the other members.
/// Debug builds notice overlapping calls in one role. Handlers may push, and may make and close
/// producers.
///
/// Progress: pushing is wait-free while the consumer visits the lane. The first push into an idle
/// lane is lock-free: it announces the lane. A producer that is stopped or dead delays no other
/// producer, not even in the middle of a push. Consuming is wait-free, except for the removal of a
/// lane whose producer has gone. producer(), this removal, and the members for any thread share a
/// lock. A stopped consumer lets each lane become full.
///
/// Cost: a harvest visits the lanes that have had messages lately. With 16 lanes or more, the
/// consumer stops visiting empty lanes after 4,096 visits to them. This takes one heavy fence, some
/// microseconds.
///
/// Memory promise: the handler of a message sees the writes of its producer before the push. The
/// producer that reuses a slot sees the writes of the consumer before the slot was freed.
///
/// Order: first in, first out per producer. consume() takes the lanes in turn. consumeOrdered()
/// takes the smallest key first among the messages that it sees.
///
/// Capacity is exact for each lane, and chosen at run time. Each call of producer() allocates a
/// lane, and the first one also a small object. No other call allocates. A lane goes back to its
/// memory resource when its producer has gone and the consumer has drained it. Exceptions: a
/// throwing constructor of T leaves the lane unchanged. A throwing handler has consumed exactly its
/// message. Shutdown: after close() pushes are refused. Accepted messages stay until they are
/// consumed, or until the queue is destroyed. A Producer may outlive the queue: then its pushes are
/// refused, and the messages of its lane are destroyed at its end.
///
/// Origin: one ring per producer as in the Linux kernel's trace buffers; the lanes are SpscRings.
///
/// Invariants: the list holds every lane whose producer or messages are still there; only the
/// consumer takes lanes out. A lane with a message or a leaving producer is in the consumer's round
/// or among the announced ones, unless its producer is about to announce it. A lane is freed by the
/// second of its two owners.
///
/// Edges: those of SpscRing per lane; E4 list: lane built or announced -> list released .. acquired
/// -> consumer visits it. E5 unref: last use by one owner -> owners acq_rel .. owners acq_rel ->
/// the other frees. E6 unlist: push published, light fence, state read -- against -- state made
/// idle, heavy fence, lane read: either the producer announces the lane, or the consumer sees its
/// message. The release and acquire of the state hand the link to the producer. E7 announced: list
/// built -> released .. acquired -> consumer takes them.
///
/// Tests: tests/unit/queue/mpsc_lanes_test.cpp, tests/unit/queue/mpsc_lanes_idle_test.cpp,
/// tests/model/mpsc_lanes_model_test.cpp, tests/conformance, tests/stress.
template <class T, class Traits = QueueTraits>
class MpscLanes {
    using Platform = typename Traits::Platform;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Lane = detail::Lane<T, Traits>;
    using List = detail::LaneList<T, Traits>;
    using Round = detail::RoundRobin<T, Traits>;

public:
    using value_type = T;
    class Producer;

    /// `laneCapacity` is the room of each producer. The constructor refuses (see setupError) 0 and
    /// values beyond the limit.
    explicit MpscLanes(std::size_t laneCapacity,
                       std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : laneCapacity_(Lane::Ring::checkedCapacity(laneCapacity)), memory_(memory) {}

    // ---- Producers

    /// Registers a producer with a lane of its own. Not for hot paths: it allocates.
    [[nodiscard]] Producer producer() { return Producer(lanes_.add(laneCapacity_, memory_)); }

    // ---- Consumer

    /// Takes a message out of the next lane that has one. The result is empty if no lane has one.
    [[nodiscard]] std::optional<T> tryPop() {
        static_assert(std::is_nothrow_move_constructible_v<T>,
                      "tryPop() of MpscLanes would lose a message whose move constructor throws: "
                      "declare the move constructor noexcept, or use consume()");
        std::optional<T> value;
        consume([&value](T& message) { value.emplace(std::move(message)); }, 1);
        return value;
    }

    /// Visits every lane that is not idle once, beginning where the last call ended. Hands the
    /// queued messages, at most `max` in all, to handler(T&). When a handler returns or throws, its
    /// message is destroyed and the slot is free. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        takeAnnounced();
        std::size_t count = 0;
        for (std::size_t visits = round_.size(); visits != 0 && count < max; --visits) {
            Lane& lane = round_.current();
            const Visit visit{*this, lane, lane.isAbandoned()};
            const std::size_t found = lane.ring.consume(handler, max - count);
            if (found == 0) {
                round_.countEmptyVisit();
            }
            count += found;
        }
        round_.sweepIfItPays();
        return count;
    }

    /// Hands the queued messages, at most `max`, to handler(T&) in the order of keyOf(const T&),
    /// the smallest first. If each lane is in key order, so are all messages that were queued at
    /// the call. A message that is pushed meanwhile may come later than its key says. Messages of
    /// one producer with equal keys keep their order. Cost: one look at each lane per run of
    /// messages from the same lane.
    template <class KeyOf, class Handler>
    std::size_t consumeOrdered(KeyOf&& keyOf, Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        // The limit is set first. Otherwise a fast producer could keep the call from returning.
        const std::size_t most = std::min(max, removeAbandonedAndCount());
        std::size_t count = 0;
        while (count < most) {
            const auto [best, next] = twoSmallest(keyOf);
            if (best == nullptr) {
                break;
            }
            T* message = best->ring.front();
            do {
                const PopFront pop{best->ring};
                ++count;
                handler(*message);
            } while (count < most && (message = best->ring.front()) != nullptr &&
                     (next == nullptr || !(keyOf(std::as_const(*next->ring.front())) <
                                           keyOf(std::as_const(*message)))));
        }
        return count;
    }

    // ---- Anybody

    /// Refuses later pushes, in all lanes. A push that runs at the same time is either refused, or
    /// accepted and delivered. A later producer() returns a handle whose pushes are refused.
    void close() noexcept { lanes_.close(); }

    [[nodiscard]] bool isClosed() const noexcept { return lanes_.isClosed(); }

    /// Whether the queue is closed, nothing is in it, and no push is under way. Once true, it stays
    /// true.
    [[nodiscard]] bool isDrained() const noexcept { return lanes_.isDrained(); }

    /// The messages of all lanes, each counted at some moment during the call.
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        std::size_t sum = 0;
        lanes_.all([&sum](const Lane& lane) { return sum += lane.ring.sizeApprox(), true; });
        return sum;
    }

    /// The room of each producer.
    [[nodiscard]] std::size_t laneCapacity() const noexcept { return laneCapacity_; }

    /// The number of lanes. A gone producer's lane counts until the consumer has found it empty.
    [[nodiscard]] std::size_t laneCount() const noexcept { return lanes_.size(); }

    /// The room of all lanes together.
    [[nodiscard]] std::size_t capacity() const noexcept { return laneCount() * laneCapacity_; }

private:
    /// Takes the oldest message out when its handler returns or throws.
    struct PopFront {
        typename Lane::Ring& ring;
        ~PopFront() { ring.popFront(); }
    };

    /// Moves on to the next lane after a visit, also when a handler throws. Otherwise a lane whose
    /// handler always throws would keep the others waiting.
    struct Visit {
        MpscLanes& lanes;
        Lane& lane;
        bool isAbandoned;  // before the visit: then a lane that is empty after it stays empty
        ~Visit() {
            if (isAbandoned && lane.ring.front() == nullptr) {
                lanes.round_.removeCurrent();
                lanes.lanes_.remove(lane);
            } else {
                lanes.round_.advance();
            }
        }
    };

    void takeAnnounced() noexcept {
        if (auto* const announced = lanes_.announced()) {
            round_.takeAnnounced(*announced);
        }
    }

    std::size_t removeAbandonedAndCount() {
        takeAnnounced();
        std::size_t messages = 0;
        for (std::size_t visits = round_.size(); visits != 0; --visits) {
            Lane& lane = round_.current();
            const Visit visit{*this, lane, lane.isAbandoned()};
            const std::size_t size = lane.ring.sizeApprox();
            if (size == 0) {
                round_.countEmptyVisit();
            }
            messages += size;
        }
        round_.sweepIfItPays();
        return messages;
    }

    template <class KeyOf>
    std::pair<Lane*, Lane*> twoSmallest(KeyOf& keyOf) {
        Lane* best = nullptr;
        Lane* second = nullptr;
        const auto isBefore = [&keyOf](Lane& a, Lane& b) {
            return keyOf(std::as_const(*a.ring.front())) < keyOf(std::as_const(*b.ring.front()));
        };
        for (std::size_t visits = round_.size(); visits != 0; --visits, round_.advance()) {
            Lane& lane = round_.current();
            if (lane.ring.front() == nullptr) {
                continue;
            }
            if (best == nullptr || isBefore(lane, *best)) {
                second = std::exchange(best, &lane);
            } else if (second == nullptr || isBefore(lane, *second)) {
                second = &lane;
            }
        }
        return {best, second};
    }

    std::size_t laneCapacity_;
    std::pmr::memory_resource* memory_;
    List lanes_;

    // Used by the consumer alone.
    alignas(Traits::cacheLineSize) alignas(Round) Round round_;
    RoleCheck consumerRole_;
};

/// The handle of one producer of an MpscLanes. Its destructor, like close(), gives up the lane.
/// Pushed messages are still delivered.
template <class T, class Traits>
class MpscLanes<T, Traits>::Producer {
public:
    using value_type = T;
    class Reservation;

    /// A handle without a lane, to be assigned to.
    Producer() noexcept = default;
    Producer(Producer&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)) {}
    Producer& operator=(Producer&& other) noexcept {
        Producer(std::move(other)).swap(*this);
        return *this;
    }
    ~Producer() { close(); }

    void swap(Producer& other) noexcept { std::swap(lane_, other.lane_); }

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }

    /// Constructs the message in its slot.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        SLUICE_ASSERT(isOpen(), advice);
        if (!isOpen()) {
            return SendResult::closed;
        }
        const SendResult result = lane_->ring.tryEmplace(std::forward<Args>(args)...);
        if (result == SendResult::ok) {
            lane_->announce();
        }
        return result;
    }

    /// Reserves the next slot. The handle must stay open until the reservation has ended.
    [[nodiscard]] Reservation tryReserve() {
        SLUICE_ASSERT(isOpen(), advice);
        return Reservation(*lane_);
    }

    /// Gives up the lane. May be called repeatedly.
    void close() noexcept {
        if (Lane* lane = std::exchange(lane_, nullptr)) {
            lane->leave();
        }
    }

    /// Whether the handle has a lane. It keeps the lane when the queue is closed: then pushes
    /// return `closed`.
    [[nodiscard]] bool isOpen() const noexcept { return lane_ != nullptr; }

    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return isOpen() ? lane_->ring.sizeApprox() : 0;
    }

private:
    friend class MpscLanes;
    explicit Producer(Lane* lane) noexcept : lane_(lane) {}

    static constexpr const char* advice = "a push through a producer handle that was closed, moved "
                                          "from or never assigned: get one from "
                                          "producer()";

    Lane* lane_ = nullptr;
};

/// A slot of a lane, held from tryReserve() to commit(): SpscRing::Reservation.
template <class T, class Traits>
class MpscLanes<T, Traits>::Producer::Reservation {
public:
    explicit operator bool() const noexcept { return static_cast<bool>(slot_); }
    [[nodiscard]] SendResult result() const noexcept { return slot_.result(); }
    [[nodiscard]] auto number() const noexcept { return slot_.number(); }

    template <class... Args>
    T& emplace(Args&&... args) {
        return slot_.emplace(std::forward<Args>(args)...);
    }
    T& operator*() const noexcept { return *slot_; }
    T* operator->() const noexcept { return slot_.operator->(); }

    void commit() noexcept {
        slot_.commit();
        lane_.announce();
    }

private:
    friend class Producer;
    explicit Reservation(Lane& lane) noexcept : lane_(lane), slot_(lane.ring.tryReserve()) {}

    Lane& lane_;
    typename Lane::Ring::Reservation slot_;
};

}  // namespace sluice
