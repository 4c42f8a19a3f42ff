#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/queue/detail/ring_storage.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>

namespace sluice {

/// Carries messages from one producer to one consumer, in a bounded ring.
///
///     sluice::SpscRing<Reading, 256> ring;
///     if (ring.tryPush(reading) != sluice::SendResult::ok) { ... }     // the producer keeps it
///     ring.consume([](const Reading& reading) { show(reading); });     // the consumer
///
/// Use it for one producer and one consumer. Use MpscRing or MpscLanes for several producers. Use
/// SegmentQueue if no bound can be given, BlockingQueue around it if a side must wait.
///
/// Threads: the producer pushes; the consumer calls tryPop, consume, front and popFront; any thread
/// calls the other members. One thread at a time has a role, and may pass it on by a synchronised
/// hand-over. Debug builds notice overlapping calls in one role. A handler may push into its own
/// queue if its thread is also the producer. No handler may consume from its own queue.
///
/// Progress: every operation is wait-free, with two exceptions: user code, and isDrained(), which
/// takes a heavy fence from close() until it has been true. A stopped producer delays no thread. A
/// stopped consumer lets the ring become full.
///
/// Memory promise: the handler of a message sees the writes of its producer before the push. The
/// producer that reuses a slot sees the writes of the consumer before the slot was freed.
///
/// Capacity is exact, from 1 to a quarter of the Index range. The storage is rounded up to a power
/// of two. With the capacity in the type nothing is allocated. With dynamicCapacity the constructor
/// allocates once. Exceptions: a throwing constructor of T leaves the queue unchanged. A throwing
/// handler has consumed exactly its message. Shutdown: after close() pushes are refused. Accepted
/// messages stay until they are consumed, or until the queue is destroyed. isDrained() is exact,
/// whichever thread called close().
///
/// Origin: L. Lamport's ring buffer, with each side keeping a copy of the other's index as in
/// P. Lee et al., "A lock-free, cache-efficient multi-core synchronization mechanism" (2009).
///
/// Invariants, on unbounded positions: head <= tail <= head + capacity. The slots of [head, tail)
/// hold messages; all others are empty. headCopy <= head and tailCopy <= tail. Between two pushes
/// announced == tail. A push sets announced one ahead before it reads `closed`.
///
/// Edges: E1 publish: message written -> tail release .. tail acquire -> message read. E2 reuse:
/// message destroyed -> head release .. head acquire -> slot written. E3 close: announced written,
/// light fence, closed read -- against -- closed read as true, heavy fence, announced read: either
/// the push is refused or isDrained sees it. E4 end: everything read by the first isDrained that is
/// true -> drained release .. drained acquire -> the end seen by another thread.
///
/// Tests: tests/unit/queue/spsc_ring_test.cpp, tests/conformance, tests/stress, tests/model.
template <class T, std::size_t Capacity, class Traits = QueueTraits>
class SpscRing {
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = sluice::RingPositions<Index>;
    using Slot = typename Platform::template Cell<T>;
    using Storage = detail::RingStorage<Slot, Capacity, Index>;
    using RoleCheck = sluice::RoleCheck<Platform>;

public:
    using value_type = T;
    class Reservation;

    SpscRing() = default;

    /// With dynamicCapacity only. Refuses (see setupError) a capacity of 0 or beyond the limit.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit SpscRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {}

    SpscRing(const SpscRing&) = delete;
    SpscRing& operator=(const SpscRing&) = delete;

    ~SpscRing() {
        close();  // so no destructor of a message adds one
        while (front() != nullptr) {
            popFront();
        }
    }

    // ---- Producer

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }

    /// Constructs the message in its slot.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        Push push(*this);
        if (push.result == SendResult::ok) {
            push.slot().construct(std::forward<Args>(args)...);
            push.publish();
        }
        return push.result;
    }

    /// Reserves the next slot, to construct and fill the message there in several steps.
    [[nodiscard]] Reservation tryReserve() {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        return Reservation(*this);
    }

    // ---- Consumer

    /// Takes the oldest message out. The result is empty if there is none.
    [[nodiscard]] std::optional<T> tryPop() {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::optional<T> value;
        if (T* const oldest = oldestOrNull()) {
            value.emplace(std::move(*oldest));  // if it throws, the message stays
            const Consumed gone(*this, head_.load(std::memory_order_relaxed));
        }
        return value;
    }

    /// Hands the queued messages, at most `max`, to handler(T&), oldest first. When a handler
    /// returns or throws, its message is destroyed and the slot is free. Returns the number of
    /// messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeWhile(std::forward<Handler>(handler), max, [] { return true; });
    }

    /// As consume(), but ends when goOn() returns false. It calls goOn() after each message, when
    /// the slot is free.
    template <class Handler, class GoOn>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, GoOn&& goOn) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        // Relaxed: only this thread writes head. Kept in a register from here on: reading it back
        // after each store would make the loop wait for its own stores.
        Index head = head_.load(std::memory_order_relaxed);
        tailCopy_ = tail_.load(std::memory_order_acquire);  // E1 publish
        const std::size_t most = std::min(Positions::distance(head, tailCopy_), max);
        std::size_t count = 0;
        for (bool isMore = true; isMore && count < most; head = Positions::next(head)) {
            ++count;
            {
                const Consumed oldest(*this, head);
                handler(oldest.message());
            }
            isMore = goOn();
        }
        return count;
    }

    /// The oldest message; nullptr if there is none. The caller may read it or move from it.
    [[nodiscard]] T* front() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        return oldestOrNull();
    }

    /// Whether consume() would find a message. The consumer calls it.
    [[nodiscard]] bool hasArrival() const noexcept { return arrival()(); }

    /// hasArrival() as a function object, for a consumer that asks repeatedly without taking a
    /// message out. It reads one word.
    [[nodiscard]] auto arrival() const noexcept {
        // Relaxed, both: own variable, and consume() looks again.
        return [head = head_.load(std::memory_order_relaxed), &tail = tail_]() noexcept {
            return head != tail.load(std::memory_order_relaxed);
        };
    }

    /// Whether there is a message behind the oldest one. The consumer calls it.
    [[nodiscard]] bool hasSecond() const noexcept {
        // Relaxed, both: own variable, and consume() looks again.
        return Positions::distance(head_.load(std::memory_order_relaxed),
                                   tail_.load(std::memory_order_relaxed)) > 1;
    }

    /// Destroys the message that front() returned, and frees its slot.
    void popFront() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        SLUICE_ASSERT(head_.load(std::memory_order_relaxed) != tailCopy_,
                      "popFront without a message: call it only after front() returned one");
        const Consumed oldest(*this, head_.load(std::memory_order_relaxed));
    }

    // ---- Anybody

    /// Refuses later pushes. A push that runs at the same time is either refused, or accepted and
    /// delivered. May be called repeatedly.
    void close() noexcept { closed_.store(true, std::memory_order_release); }

    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Whether the queue is closed, nothing is in it, and no push is under way. Once true, it stays
    /// true.
    [[nodiscard]] bool isDrained() const noexcept {
        // Acquire: a thread that sees the end of the queue may free the data that
        // handlers and producers used.
        if (drained_.load(std::memory_order_acquire)) {  // E4 end
            return true;
        }
        if (!isClosed()) {
            return false;
        }
        Platform::Fence::heavy();  // E3 close
        return isDrainedAfterFence();
    }

    /// As isDrained(), for a caller that has found several rings closed, and has then made one
    /// heavy fence for all of them.
    [[nodiscard]] bool isDrainedAfterFence() const noexcept {
        if (drained_.load(std::memory_order_acquire)) {  // E4 end
            return true;
        }
        // Announced is read first. If it equals the later tail, no push was under way in between.
        const Index announced = announced_.load(std::memory_order_acquire);
        const bool drained = announced == tail_.load(std::memory_order_acquire) &&
                             announced == head_.load(std::memory_order_acquire);
        if (drained) {
            // Keeps the answer, because a later push announces itself before it is refused.
            drained_.store(true, std::memory_order_release);  // E4 end
        }
        return drained;
    }

    /// The number of messages in the queue, approximately at some moment during the call. It is
    /// never more than capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Acquire: a thread that counts a message as removed also sees its handler's writes. Head
        // comes first: if tail moves on in between, the difference only becomes larger. The limit
        // bounds it.
        const Index head = head_.load(std::memory_order_acquire);
        const Index tail = tail_.load(std::memory_order_acquire);
        return std::min(Positions::distance(head, tail), capacity());
    }

    /// The number of messages at exactly one moment. It looks again if a message was removed
    /// between its looks.
    [[nodiscard]] std::size_t sizeExact() const noexcept {
        for (;;) {
            const Index head = head_.load(std::memory_order_acquire);
            // Acquire: the next load of head is no older than the head that the producer had read
            // before it wrote this tail.
            const Index tail = tail_.load(std::memory_order_acquire);
            // Relaxed: the first load has acquired this value.
            if (head_.load(std::memory_order_relaxed) == head) {
                return Positions::distance(head, tail);
            }
        }
    }
    [[deprecated("renamed: sizeExact()")]] [[nodiscard]] std::size_t sizeAtOnce() const noexcept {
        return sizeExact();
    }

    /// The number of messages pushed so far, modulo half the range of Index.
    [[nodiscard]] Index pushCount() const noexcept {
        const Index tail = tail_.load(std::memory_order_acquire);
        return static_cast<Index>(static_cast<Index>(tail - first) / Positions::one);
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }

    /// With dynamicCapacity only: returns the capacity if a constructor would take it. Otherwise it
    /// refuses the capacity as the constructor does.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    static std::size_t checkedCapacity(std::size_t capacity) {
        return Storage::checkedCapacity(capacity);
    }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index first = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(first), "firstPosition of the traits must be even");

    /// How many slots ahead a push prefetches. Otherwise taking the line from the consumer's cache
    /// costs more than writing it. Measured to pay only for messages of about a line.
    static constexpr std::size_t prefetchDistance = sizeof(Slot) > line / 2 && sizeof(Slot) <= line
                                                        ? 32
                                                        : 0;

    /// One push. The constructor announces it. The destructor undoes this unless published.
    struct Push {
        SpscRing& ring;
        Index tail;
        SendResult result;
        bool open;

        explicit Push(SpscRing& r) noexcept
            : ring(r),
              tail(r.announced_.load(std::memory_order_relaxed)),  // relaxed: own variable
              result(r.admit(tail)),
              open(result == SendResult::ok) {}
        Push(const Push&) = delete;
        Push& operator=(const Push&) = delete;
        ~Push() {
            if (open) {
                ring.announced_.store(tail, std::memory_order_relaxed);  // relaxed: no data follows
            }
        }

        Slot& slot() const noexcept { return ring.slotAt(tail); }
        void publish() noexcept {
            open = false;
            ring.tail_.store(Positions::next(tail), std::memory_order_release);  // E1 publish
        }
    };

    /// The oldest message while it is handled. The destructor destroys it and frees the slot.
    struct Consumed {
        SpscRing& ring;
        Index head;

        Consumed(SpscRing& r, Index position) noexcept : ring(r), head(position) {}
        Consumed(const Consumed&) = delete;
        Consumed& operator=(const Consumed&) = delete;
        ~Consumed() {
            ring.slotAt(head).destroyAndOwnLines();
            ring.head_.store(Positions::next(head), std::memory_order_release);  // E2 reuse
        }

        T& message() const noexcept { return ring.slotAt(head).get(); }
    };

    T* oldestOrNull() noexcept {
        const Index head = head_.load(std::memory_order_relaxed);  // relaxed: own variable
        if (head == tailCopy_) {
            tailCopy_ = tail_.load(std::memory_order_acquire);  // E1 publish
            if (head == tailCopy_) {
                return nullptr;
            }
        }
        return std::addressof(slotAt(head).get());
    }

    Slot& slotAt(Index position) noexcept { return slots_.at(position); }

    SendResult admit(Index tail) noexcept {
        SLUICE_ASSERT(tail == tail_.load(std::memory_order_relaxed),
                      "a push while a reservation is open: commit or drop the reservation first");
        if (!hasRoom(tail)) {
            return isClosed() ? SendResult::closed : SendResult::full;
        }
        // Relaxed, all: E3's fences order the announcement before the load of `closed_`.
        announced_.store(Positions::next(tail), std::memory_order_relaxed);
        Platform::Fence::light();
        if (closed_.load(std::memory_order_relaxed)) {
            announced_.store(tail, std::memory_order_relaxed);
            return SendResult::closed;
        }
        return SendResult::ok;
    }

    bool hasRoom(Index tail) noexcept {
        std::size_t used = Positions::distance(headCopy_, tail);
        if (used >= capacity()) {
            headCopy_ = head_.load(std::memory_order_acquire);  // E2 reuse
            used = Positions::distance(headCopy_, tail);
        }
        if constexpr (prefetchDistance != 0) {
            // Only free slots: the consumer is about to read the lines of the others.
            if (used + prefetchDistance < capacity()) {
                constexpr auto ahead = static_cast<Index>(prefetchDistance * Positions::one);
                prefetchForWrite(&slotAt(static_cast<Index>(tail + ahead)));
            }
        }
        return used < capacity();
    }

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

    // Read by both sides, written once.
    alignas(line) alignas(Atomic<bool>) Atomic<bool> closed_{false};
    mutable Atomic<bool> drained_{false};

    // Written by the producer, read by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> tail_{first};

    // Written by the producer, rarely read by other threads. The producer reads its position here
    // and not in tail_, because the consumer keeps taking the line of tail_ away.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> announced_{first};
    Index headCopy_{first};
    RoleCheck producerRole_;

    // Written by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{first};
    Index tailCopy_{first};
    RoleCheck consumerRole_;

    alignas(line) alignas(Storage) Storage slots_;
};

/// A slot that the producer holds from tryReserve() to commit(). Meanwhile the producer pushes
/// nothing else, and isDrained() stays false. Without a commit() nothing has changed.
template <class T, std::size_t Capacity, class Traits>
class SpscRing<T, Capacity, Traits>::Reservation {
public:
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        if (message_ != nullptr) {
            push_.slot().destroy();
        }
    }

    /// Whether a slot is reserved and not committed yet. If none is, result() tells why.
    explicit operator bool() const noexcept { return push_.open; }
    SendResult result() const noexcept { return push_.result; }

    /// The number of pushes before this one.
    [[nodiscard]] Index number() const noexcept {
        return static_cast<Index>(static_cast<Index>(push_.tail - first) / Positions::one);
    }

    /// Constructs the message in the slot. Call it once.
    template <class... Args>
    T& emplace(Args&&... args) {
        SLUICE_ASSERT(*this && message_ == nullptr,
                      "emplace needs a reservation that succeeded, is not committed and holds no "
                      "message yet");
        message_ = std::addressof(push_.slot().construct(std::forward<Args>(args)...));
        return *message_;
    }

    T& operator*() const noexcept { return *message_; }
    T* operator->() const noexcept { return message_; }

    /// Publishes the message, and ends the reservation.
    void commit() noexcept {
        SLUICE_ASSERT(message_ != nullptr,
                      "commit without a message: call emplace first, commit once");
        message_ = nullptr;
        push_.publish();
    }

private:
    friend class SpscRing;
    explicit Reservation(SpscRing& ring) noexcept : push_(ring) {}

    Push push_;
    T* message_ = nullptr;
};

}  // namespace sluice
