#pragma once

/// \file
/// MpscRing: a bounded queue from any number of producers to one consumer, first in first out for
/// all.
///
/// Purpose: many threads hand messages to one, in one order that everybody agrees on.
///
/// Use it when that single order matters, or when producers come and go unregistered. Use MpscLanes
/// when order per producer is enough: it has no atomic read-modify-write per message. Use SpscRing
/// for one producer, SegmentQueue when no bound can be given, BlockingQueue around it when a side
/// must wait.
///
/// Who may call what: tryPush and tryEmplace by any thread, also from a handler; tryPop, consume,
/// front and popFront by the consumer; the rest by anybody. The role of the consumer is held by one
/// thread at a time and may be passed on if the hand-over is synchronised; overlapping calls are
/// caught by an assertion in debug builds.
///
/// Progress: pushing is lock-free: a failed compare-exchange means that another push got through. A
/// producer stopped in the middle of a push delays the delivery of later messages, and in the end,
/// when the ring has filled up behind its slot, other producers too; so this is not a lock-free
/// queue in the strict sense. Consuming is wait-free. A stopped consumer lets the ring become full.
///
/// Memory promise: what a producer wrote before a push is visible to the handler of that message;
/// what the consumer wrote before a slot came back is visible to the producer that reuses it.
///
/// Order: linearizable. If one push returned before another began, its message is delivered first.
/// `full` is returned only if at some moment during the call `capacity()` messages were in the
/// ring, or being pushed.
///
/// Capacity is exact, from 1 to a quarter of the Index range; the storage is rounded up to a power
/// of two. With the capacity in the type nothing is allocated; with dynamicCapacity the constructor
/// allocates once. Exceptions: when a constructor of T throws, its slot is skipped, and is in use
/// until the consumer comes by; a throwing handler has consumed exactly its message. Shutdown:
/// after close() pushes are refused; what was accepted stays until consumed or, at the latest,
/// destroyed with the queue. isDrained() is exact whoever called close().
///
/// Origin: the sequence number per slot is D. Vyukov's bounded queue. Here the consumer never
/// writes a slot but gives room back through one counter, so that it takes no line away from the
/// producers.
///
/// Invariants, on unbounded positions: head <= tail <= head + capacity; headCopy <= head. Each
/// position below tail belongs to exactly one push, which alone writes the slot and, last, its
/// turn. turn(p) becomes filled(p) or skipped(p), differs from both before, and is not written
/// again before head has passed p.
///
/// Edges: E1 publish: message written -> turn release .. turn acquire -> message read. E2 reuse:
/// message destroyed -> head release .. head acquire -> [headCopy release .. headCopy acquire ->]
/// slot written. E3 close: the closed mark is part of tail, so every claim is ordered before or
/// after it by tail itself. E4 order: claim release .. acquire next claim: who sees a claim sees as
/// much of head as its producer did, and so never counts a new tail against an older head.
///
/// Tests: tests/unit/queue/mpsc_ring_test.cpp, tests/conformance, tests/stress, tests/model.

#include <sluice/base/prefetch.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/queue/detail/ring_storage.hpp>
#include <sluice/queue/push_result.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <utility>

namespace sluice {

template <class T, std::size_t Capacity, class Traits = QueueTraits>
class MpscRing {
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = sluice::RingPositions<Index>;
    using RoleCheck = sluice::RoleCheck<Platform>;

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

    struct Slot {
        Atomic<Index> turn;
        typename Platform::template Cell<T> cell;
    };
    using Storage = detail::RingStorage<Slot, Capacity, Index>;

public:
    using value_type = T;
    class Reservation;

    template <std::size_t C = Capacity, std::enable_if_t<C != dynamicCapacity, int> = 0>
    MpscRing() noexcept {
        initialiseTurns();
    }

    /// With dynamicCapacity only. Refuses (see setupError) a capacity of 0 or beyond the limit.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit MpscRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {
        initialiseTurns();
    }

    MpscRing(const MpscRing&) = delete;
    MpscRing& operator=(const MpscRing&) = delete;

    ~MpscRing() {
        consume([](T&) noexcept {});
    }

    // ---- Producers

    PushResult tryPush(const T& value) { return tryEmplace(value); }
    PushResult tryPush(T&& value) { return tryEmplace(std::move(value)); }

    /// Constructs the message in its slot. Cost: one compare-exchange when no other push
    /// interferes.
    template <class... Args>
    PushResult tryEmplace(Args&&... args) {
        Index position = 0;
        const PushResult admission = claim(position);
        if (admission == PushResult::ok) {
            Slot& slot = slotAt(position);
            Publication publication{slot.turn, skipped(position)};
            slot.cell.construct(std::forward<Args>(args)...);
            publication.turn = filled(position);
        }
        return admission;
    }

    /// Reserves the next slot, to construct and fill the message there in several steps. Messages
    /// pushed after it wait until it is over.
    [[nodiscard]] Reservation tryReserve() { return Reservation(*this); }

    // ---- Consumer

    /// Takes the oldest message out; empty when there is none.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        consume([&value](T& message) { value.emplace(std::move(message)); }, 1);
        return value;
    }

    /// Hands the messages that are there, at most `max` and at most capacity(), to handler(T&),
    /// oldest first. Each is destroyed and its slot given back as soon as its handler returns or
    /// throws. Returns how many.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const std::size_t most = std::min(max, capacity());
        std::size_t count = 0;
        // Relaxed: only this thread writes head. Kept in a register from here on: reading it back
        // after each store would make the loop wait for its own stores.
        for (Index head = head_.load(std::memory_order_relaxed); count < most;
             head = Positions::next(head)) {
            Slot& slot = slotAt(head);
            const Index turn = slot.turn.load(std::memory_order_acquire);  // E1 publish
            if (turn == filled(head)) {
                ++count;
                const Consumed oldest{*this, head, &slot.cell};
                handler(slot.cell.get());
            } else if (turn == skipped(head)) {
                const Consumed nothing{*this, head, nullptr};
            } else {
                if (count == 0) {
                    // So a lonely message comes in the time of one line, not of two.
                    prefetchForRead(reinterpret_cast<const unsigned char*>(&slot + 1) - 1);
                }
                break;
            }
        }
        return count;
    }

    /// The oldest message, to be looked at or moved from; nullptr when there is none.
    [[nodiscard]] T* front() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        for (Index head = head_.load(std::memory_order_relaxed);; head = Positions::next(head)) {
            Slot& slot = slotAt(head);
            const Index turn = slot.turn.load(std::memory_order_acquire);  // E1 publish
            if (turn == filled(head)) {
                return &slot.cell.get();
            }
            if (turn != skipped(head)) {
                return nullptr;
            }
            const Consumed nothing{*this, head, nullptr};
        }
    }

    /// Whether consume() would find a message, or a slot to skip. By the consumer.
    [[nodiscard]] bool hasArrival() const noexcept {
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        // Relaxed: consume() looks again.
        const Index turn =
            slots_[Positions::slot(head, slots_.mask())].turn.load(std::memory_order_relaxed);
        return turn == filled(head) || turn == skipped(head);
    }

    /// Destroys the message that front() returned and gives its slot back.
    void popFront() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        SLUICE_ASSERT(slotAt(head).turn.load(std::memory_order_relaxed) == filled(head),
                      "popFront without a message: call it only after front() returned one");
        const Consumed oldest{*this, head, &slotAt(head).cell};
    }

    // ---- Anybody

    /// Refuses pushes from now on. A push that runs at the same time is either refused or accepted
    /// and delivered. May be called repeatedly.
    void close() noexcept { tail_.fetch_or(Positions::mark, std::memory_order_release); }  // E3

    [[nodiscard]] bool isClosed() const noexcept {
        return Positions::isMarked(tail_.load(std::memory_order_acquire));
    }

    /// True when the queue is closed, nothing is in it and no push is under way: for good.
    [[nodiscard]] bool isDrained() const noexcept {
        const Index tail = tail_.load(std::memory_order_acquire);
        return Positions::isMarked(tail) &&
               Positions::unmarked(tail) == head_.load(std::memory_order_acquire);
    }

    /// How many messages were in the queue, or being pushed, at some moment during the call, or
    /// nearly so: never more than capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Acquire: so that an observer who sees a message gone also sees what its handler did. Head
        // first: a tail that moves on in between can only make the difference larger, hence the
        // bound.
        const Index head = head_.load(std::memory_order_acquire);
        const Index tail = Positions::unmarked(tail_.load(std::memory_order_acquire));
        return std::min(Positions::distance(head, tail), capacity());
    }

    /// The same at exactly one moment: looks again when a message has gone between its looks.
    [[nodiscard]] std::size_t sizeAtOnce() const noexcept {
        for (;;) {
            const Index head = head_.load(std::memory_order_acquire);
            // E4 order: the next look at head is no older than the one of these claims.
            const Index tail = Positions::unmarked(tail_.load(std::memory_order_acquire));
            // Relaxed: the same value has told all that it can tell.
            if (head_.load(std::memory_order_relaxed) == head) {
                return Positions::distance(head, tail);
            }
        }
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index first = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(first), "firstPosition of the traits must be even");

    /// A compare-exchange waits until all earlier writes have left the processor; so each push asks
    /// for the lines of a slot that will be written some pushes later.
    static constexpr std::size_t lookAhead = 8 * Positions::one;

    // What a slot's turn says about a position. A filled turn is odd, all others are even; the turn
    // left by the lap before is one lap behind.
    static constexpr Index filled(Index p) noexcept {
        return static_cast<Index>(p | Positions::mark);
    }
    static constexpr Index skipped(Index p) noexcept { return Positions::next(p); }

    /// Tells the consumer about a claimed slot, whatever happens to the constructor.
    struct Publication {
        Atomic<Index>& word;
        Index turn;
        ~Publication() { word.store(turn, std::memory_order_release); }  // E1 publish
    };

    /// The oldest position while it is dealt with; its message destroyed and its slot given back at
    /// the end.
    struct Consumed {
        MpscRing& ring;
        Index head;
        typename Platform::template Cell<T>* cell;
        ~Consumed() {
            if (cell != nullptr) {
                cell->destroy();
            }
            ring.head_.store(Positions::next(head), std::memory_order_release);  // E2 reuse
        }
    };

    void initialiseTurns() noexcept {
        Index position = first;
        for (std::size_t i = 0; i <= slots_.mask(); ++i, position = Positions::next(position)) {
            slotAt(position).turn.store(position,
                                        std::memory_order_relaxed);  // relaxed: not shared yet
        }
    }

    Slot& slotAt(Index position) noexcept {
        return slots_[Positions::slot(position, slots_.mask())];
    }

    PushResult claim(Index& position) noexcept {
        Index tail = tail_.load(std::memory_order_acquire);  // E4 order
        for (;;) {
            if (Positions::isMarked(tail)) {
                return PushResult::closed;
            }
            const std::size_t used = usedBefore(tail);
            if (used == capacity()) {
                return PushResult::full;
            }
            if (used > capacity()) {
                // The consumer has passed this tail: it is an old one.
                tail = tail_.load(std::memory_order_acquire);  // E4 order
            } else if (tail_.compare_exchange_weak(tail, Positions::next(tail),
                                                   std::memory_order_release,
                                                   std::memory_order_acquire)) {  // E4 order
                position = tail;
                prefetchEndsForWrite(
                    slotAt(static_cast<Index>(tail + static_cast<Index>(lookAhead))));
                return PushResult::ok;
            }
        }
    }

    /// Slots in use below `tail`, by the copy of head if that leaves room, else by head itself.
    std::size_t usedBefore(Index tail) noexcept {
        const std::size_t used = Positions::distance(headCopy_.load(std::memory_order_acquire),
                                                     tail);  // E2, second step
        if (used < capacity()) {
            return used;
        }
        const Index head = head_.load(std::memory_order_acquire);  // E2 reuse
        // An older head may overwrite a newer one here: the next producer just looks at head again.
        headCopy_.store(head, std::memory_order_release);  // E2, second step
        return Positions::distance(head, tail);
    }

    // Written by producers.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> tail_{first};
    Atomic<Index> headCopy_{first};

    // Written by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{first};
    RoleCheck consumerRole_;

    alignas(line) alignas(Storage) Storage slots_;
};

/// A slot held by a producer, from tryReserve() to commit(). Without a commit() the slot is
/// skipped.
template <class T, std::size_t Capacity, class Traits>
class MpscRing<T, Capacity, Traits>::Reservation {
public:
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        if (open_) {
            if (message_ != nullptr) {
                slot().cell.destroy();
            }
            end(skipped(position_));
        }
    }

    /// Whether a slot is reserved and not committed yet; result() tells why none was.
    explicit operator bool() const noexcept { return open_; }
    PushResult result() const noexcept { return result_; }

    /// How many pushes went before this one; those that were skipped count.
    [[nodiscard]] Index number() const noexcept {
        return static_cast<Index>(static_cast<Index>(position_ - first) / Positions::one);
    }

    /// Constructs the message in the slot; once.
    template <class... Args>
    T& emplace(Args&&... args) {
        SLUICE_ASSERT(open_ && message_ == nullptr,
                      "emplace needs a reservation that succeeded, is not committed and holds no "
                      "message yet");
        message_ = &slot().cell.construct(std::forward<Args>(args)...);
        return *message_;
    }

    T& operator*() const noexcept { return *message_; }
    T* operator->() const noexcept { return message_; }

    /// Publishes the message; the reservation is over.
    void commit() noexcept {
        SLUICE_ASSERT(open_ && message_ != nullptr,
                      "commit without a message: call emplace first, commit once");
        end(filled(position_));
    }

private:
    friend class MpscRing;
    explicit Reservation(MpscRing& ring) noexcept
        : ring_(ring), result_(ring.claim(position_)), open_(result_ == PushResult::ok) {}

    Slot& slot() const noexcept { return ring_.slotAt(position_); }
    void end(Index turn) noexcept {
        open_ = false;
        slot().turn.store(turn, std::memory_order_release);  // E1 publish
    }

    MpscRing& ring_;
    Index position_ = 0;
    PushResult result_;
    bool open_;
    T* message_ = nullptr;
};

}  // namespace sluice
