#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/queue/detail/ring_intake.hpp>
#include <sluice/queue/detail/ring_storage.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Carries messages from any number of producers to one consumer, in one order for all, in a
/// bounded ring.
///
///     sluice::MpscRing<Job, 1024> jobs;
///     if (jobs.tryPush(job) != sluice::SendResult::ok) { ... }  // any thread; the caller keeps it
///     jobs.consume([](Job& job) { job.run(); });                // the consumer
///
/// Use it if the single order matters, or if producers come and go without a handle. Use MpscLanes
/// if order per producer is enough: it has no atomic read-modify-write per message. Use SpscRing
/// for one producer, SegmentQueue if no bound can be given, BlockingQueue around it if a side must
/// wait.
///
/// Threads: any thread pushes, also a handler; the consumer calls tryPop, consume, front and
/// popFront; any thread calls the other members. One thread at a time is the consumer, and may pass
/// the role on by a synchronised hand-over. Debug builds notice overlapping calls of consumers.
///
/// Progress: pushing is lock-free: a failed compare-exchange means that another push succeeded. A
/// producer that is stopped in the middle of a push delays the delivery of later messages. When the
/// ring is full behind its slot, pushes return `full`. So this is not a lock-free queue in the
/// strict sense. Consuming is wait-free. A stopped consumer lets the ring become full.
///
/// Memory promise: the handler of a message sees the writes of its producer before the push. The
/// producer that reuses a slot sees the writes of the consumer before the slot was freed.
///
/// Order: linearizable. If one push returned before another began, its message is delivered first.
/// A push returns `full` only if at some moment during the call `capacity()` messages were in the
/// ring, or being pushed.
///
/// Capacity is exact, from 1 to a quarter of the Index range. The storage is rounded up to a power
/// of two. With the capacity in the type nothing is allocated. With dynamicCapacity the constructor
/// allocates once. Exceptions: if a constructor of T throws, its slot is skipped, and stays in use
/// until the consumer passes it. A throwing handler has consumed exactly its message. Shutdown:
/// after close() pushes are refused. Accepted messages stay until they are consumed, or until the
/// queue is destroyed. isDrained() is exact, whichever thread called close().
///
/// Origin: the sequence number per slot is D. Vyukov's bounded queue. Here the consumer never
/// writes a slot. It frees slots by one counter, so it takes no line away from the producers.
///
/// Invariants, on unbounded positions: head <= tail <= head + capacity; headCopy <= head. The
/// invariants of RingIntake hold too. sequence(p) becomes filled(p) or skipped(p), differs from
/// both before, and is not written again before head has passed p.
///
/// Edges: E1, E3 and E4 of RingIntake. E2 reuse: message destroyed -> head release .. head acquire
/// -> [headCopy release .. headCopy acquire ->] slot written.
///
/// Tests: tests/unit/queue/mpsc_ring_test.cpp, tests/conformance, tests/stress, tests/model.
template <class T, std::size_t Capacity, class Traits = QueueTraits>
class MpscRing : public detail::RingIntake<MpscRing<T, Capacity, Traits>, T, Traits> {
    using Intake = detail::RingIntake<MpscRing, T, Traits>;
    friend Intake;
    using Intake::first;
    using typename Intake::Index;
    using typename Intake::Platform;
    using typename Intake::Positions;
    using typename Intake::Slot;
    template <class U>
    using Atomic = typename Intake::template Atomic<U>;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Storage = detail::RingStorage<Slot, Capacity, Index>;

public:
    template <std::size_t C = Capacity, std::enable_if_t<C != dynamicCapacity, int> = 0>
    MpscRing() noexcept {
        this->initialiseSequences(slots_.count());
    }

    /// With dynamicCapacity only. Refuses (see setupError) a capacity of 0 or beyond the limit.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit MpscRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {
        this->initialiseSequences(slots_.count());
    }

    ~MpscRing() {
        this->close();  // so no destructor of a message adds one
        consume([](T&) noexcept {});
    }

    // ---- Producers: tryPush, tryEmplace, tryPushAll, tryReserve, see RingIntake

    // ---- Consumer

    /// Takes the oldest message out. The result is empty if there is none.
    [[nodiscard]] std::optional<T> tryPop() {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::optional<T> value;
        if (T* const oldest = oldestOrNull()) {
            value.emplace(std::move(*oldest));  // if it throws, the message stays
            dropOldest();
        }
        return value;
    }

    /// Hands the queued messages, at most `max` and at most capacity(), to handler(T&), oldest
    /// first. When a handler returns or throws, its message is destroyed and the slot is free.
    /// Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeWhile(std::forward<Handler>(handler), max, [] { return true; });
    }

    /// As consume(), but ends when goOn() returns false. It calls goOn() after each message and
    /// each skipped slot, when the slot is free.
    template <class Handler, class GoOn>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, GoOn&& goOn) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const std::size_t most = std::min(max, capacity());
        std::size_t count = 0;
        // Relaxed: only this thread writes head. Kept in a register from here on: reading it back
        // after each store would make the loop wait for its own stores.
        for (Index head = head_.load(std::memory_order_relaxed); count < most;
             head = Positions::next(head)) {
            Slot& slot = slotAt(head);
            const Index sequence = slot.sequence.load(std::memory_order_acquire);  // E1 publish
            if (sequence == Slot::filled(head)) {
                ++count;
                {
                    const Consumed oldest{*this, head, &slot.cell};
                    handler(slot.cell.get());
                }
            } else if (sequence == Slot::skipped(head)) {
                const Consumed nothing{*this, head, nullptr};
            } else {
                if (count == 0) {
                    // The first message then costs the time of one line, not of two.
                    prefetchForRead(reinterpret_cast<const unsigned char*>(&slot + 1) - 1);
                }
                break;
            }
            if (!goOn()) {
                break;
            }
        }
        return count;
    }

    /// The oldest message; nullptr if there is none. The caller may read it or move from it.
    [[nodiscard]] T* front() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        return oldestOrNull();
    }

    /// Whether consume() would find a message, or a slot to skip. The consumer calls it.
    [[nodiscard]] bool hasArrival() const noexcept { return arrival()(); }

    /// hasArrival() as a function object, for a consumer that asks repeatedly without taking a
    /// message out. It reads one word.
    [[nodiscard]] auto arrival() const noexcept {
        return arrivalAt(head_.load(std::memory_order_relaxed));  // own variable
    }

    /// Whether there is a message, or a slot to skip, behind the oldest one. The consumer calls it.
    /// It reads the next slot, and not the line that producers write for each message.
    [[nodiscard]] bool hasSecond() const noexcept {
        return arrivalAt(Positions::next(head_.load(std::memory_order_relaxed)))();  // own variable
    }

    /// Destroys the message that front() returned, and frees its slot.
    void popFront() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        dropOldest();
    }

    // ---- Anybody: close, isClosed, isDrained, sizeApprox, sizeExact, see RingIntake

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;

    /// The oldest position while it is dealt with. The end destroys the message and frees the slot.
    struct Consumed {
        MpscRing& ring;
        Index head;
        typename Slot::Cell* cell;
        ~Consumed() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            ring.head_.store(Positions::next(head), std::memory_order_release);  // E2 reuse
        }
    };

    [[nodiscard]] auto arrivalAt(Index position) const noexcept {
        const Atomic<Index>& word = slots_.at(position).sequence;
        return [position, &word]() noexcept {
            // Relaxed: consume() looks again.
            return Slot::isFilledOrSkipped(word.load(std::memory_order_relaxed), position);
        };
    }

    T* oldestOrNull() noexcept {
        for (Index head = head_.load(std::memory_order_relaxed);; head = Positions::next(head)) {
            Slot& slot = slotAt(head);
            const Index sequence = slot.sequence.load(std::memory_order_acquire);  // E1 publish
            if (sequence == Slot::filled(head)) {
                return std::addressof(slot.cell.get());
            }
            if (sequence != Slot::skipped(head)) {
                return nullptr;
            }
            const Consumed nothing{*this, head, nullptr};
        }
    }
    void dropOldest() noexcept {
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        SLUICE_ASSERT(slotAt(head).sequence.load(std::memory_order_relaxed) == Slot::filled(head),
                      "popFront without a message: call it only after front() returned one");
        const Consumed oldest{*this, head, &slotAt(head).cell};
    }

    Slot& slotAt(Index position) noexcept { return slots_.at(position); }

    /// Uses the copy of head if it shows enough room, otherwise head itself.
    template <class Most>
    std::size_t roomAt(Index tail, Most most) noexcept {
        const std::size_t used = Positions::distance(headCopy_.load(std::memory_order_acquire),
                                                     tail);  // E2, second step
        return used < capacity() - (most - 1) ? std::size_t{most} : roomByHead(tail, most);
    }

    // Out of line, so that a push is short enough to be compiled into its caller.
    [[gnu::noinline]] std::size_t roomByHead(Index tail, std::size_t most) noexcept {
        const Index head = head_.load(std::memory_order_acquire);  // E2 reuse
        // An older head may overwrite a newer one. Then the next producer reads head again.
        headCopy_.store(head, std::memory_order_release);  // E2, second step
        const std::size_t used = Positions::distance(head, tail);
        return used < capacity() ? std::min(most, capacity() - used) : 0;
    }

    const Atomic<Index>& passed() const noexcept { return head_; }

    // A lower bound of head, beside the tail; written by producers.
    Atomic<Index> headCopy_{first};

    // Written by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{first};
    RoleCheck consumerRole_;

    alignas(line) alignas(Storage) Storage slots_;
};

}  // namespace sluice
