#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/queue/detail/ring_intake.hpp>
#include <sluice/queue/detail/ring_storage.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Carries messages from any number of producers to any number of consumers that share the work, in
/// a bounded ring, first in first out.
///
///     MpmcRing<Job, 1024> jobs;
///     // any thread
///     if (jobs.tryPush(job) != SendResult::ok) { reject(job); }
///     // each worker
///     jobs.consume([](Job& job) { job.run(); });
///
/// Use it if several threads take messages, or if a producer that finds the ring full takes the
/// oldest message out itself. Use MpscRing for one consumer: it has one compare-exchange fewer per
/// message. Use BlockingQueue around it if a side must wait.
///
/// Threads: any thread calls any member, also from a handler. A handler that consumes from its own
/// queue gets the next message.
///
/// Progress: pushing and consuming are lock-free: a failed compare-exchange means that another
/// thread succeeded. A stopped thread may delay others in two cases, so this is not a lock-free
/// queue in the strict sense:
///
/// - A producer that is stopped in the middle of a push delays the delivery of later messages.
/// - A consumer that is stopped in a handler keeps its slot. When the ring reaches this slot again,
///   pushes return `full` until the handler has returned.
///
/// Memory promise: the handler of a message sees the writes of its producer before the push. The
/// producer that reuses a slot sees the writes of the handler. So does a thread that counts the
/// message as removed, by sizeApprox() or isDrained().
///
/// Order: linearizable. If one push returned before another began, its message is taken first.
/// Handlers of two consumers may run at the same time. A push returns `full` only if the message
/// `capacity()` pushes earlier still had its slot at some moment during the call.
///
/// Capacity is exact, from 1 to a quarter of the Index range; the storage is rounded up to a power
/// of two, at least 2. With the capacity in the type nothing is allocated; with dynamicCapacity the
/// constructor allocates once. Exceptions: when a constructor of T throws, its slot stays in use
/// until a consumer skips it. A throwing handler has consumed exactly its message. Shutdown: after
/// close() pushes are refused. Accepted messages stay until they are consumed, or until the queue
/// is destroyed. isDrained() is exact: it is true when all handlers have returned.
///
/// Origin: D. Vyukov's bounded queue. New here: any capacity, messages that are handled in their
/// slots, and closing.
///
/// Invariants, on unbounded positions: passed <= head <= tail <= head + capacity. The invariants of
/// RingIntake hold too. Each position below head belongs to one consumer. Only this consumer reads
/// the message, and then writes the sequence. sequence(p) becomes filled(p) or skipped(p), then
/// free(p). Position p is claimed by a producer only after sequence(p - capacity) became free(p -
/// capacity). Claims are made in order, so all earlier positions up to p - capacity are free too,
/// among them the last one in the slot of p.
///
/// Edges: E1, E3 and E4 of RingIntake. E2 reuse: message destroyed -> sequence release .. sequence
/// acquire -> slot written, by way of E4 if another producer saw the sequence. E5 passed: handlers
/// returned -> passed release .. passed acquire -> a thread that counts the messages as removed. E6
/// order: claim of a consumer release .. acquire by the next consumer. The next consumer therefore
/// sees all messages that the first one saw, and does not report an empty ring while one of them is
/// there.
///
/// Tests: tests/unit/queue/mpmc_ring_test.cpp, tests/conformance, tests/stress, tests/model.
template <class T, std::size_t Capacity, class Traits = QueueTraits>
class MpmcRing : public detail::RingIntake<MpmcRing<T, Capacity, Traits>, T, Traits> {
    using Intake = detail::RingIntake<MpmcRing, T, Traits>;
    friend Intake;
    using Intake::first;
    using Intake::plus;
    using typename Intake::Index;
    using typename Intake::Positions;
    using typename Intake::Slot;
    template <class U>
    using Atomic = typename Intake::template Atomic<U>;

    /// With one slot alone, a skipped sequence would look like a free one.
    static constexpr std::size_t minSlots = 2;
    using Storage = detail::RingStorage<Slot, Capacity, Index, minSlots>;

public:
    static constexpr bool manyConsumers = true;

    template <std::size_t C = Capacity, std::enable_if_t<C != dynamicCapacity, int> = 0>
    MpmcRing() noexcept {
        this->initialiseSequences(slots_.count());
    }

    /// With dynamicCapacity only. Refuses (see setupError) a capacity of 0 or beyond the limit.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit MpmcRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {
        this->initialiseSequences(slots_.count());
    }

    ~MpmcRing() {
        this->close();  // so no destructor of a message adds one
        consume([](T&) noexcept {});
    }

    // ---- Producers: tryPush, tryEmplace, tryPushAll, tryReserve, see RingIntake

    // ---- Consumers

    /// Takes the oldest message out. The result is empty if there is none.
    [[nodiscard]] std::optional<T> tryPop() {
        static_assert(std::is_nothrow_move_constructible_v<T>,
                      "tryPop() of an MpmcRing would lose a message whose move constructor throws: "
                      "declare the move constructor noexcept, or use consume()");
        std::optional<T> value;
        consume([&value](T& message) { value.emplace(std::move(message)); }, 1);
        return value;
    }

    /// Hands the queued messages, at most `max` and at most capacity(), to handler(T&), oldest
    /// first. It takes a message when the handler of the message before has returned, so other
    /// consumers may take messages in between. When a handler returns or throws, its message is
    /// destroyed and the slot is free. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeIf([](Index) { return true; }, handler, max);
    }

    /// Whether consume() would find a message, or a slot to skip, if no other consumer came first.
    [[nodiscard]] bool hasArrival() const noexcept {
        // Relaxed, both: consume() looks again. A consumer that passes a skipped slot between the
        // two loads, and takes no message, wakes the waiting threads.
        const Index head = this->head();
        const Index sequence = slots_.at(head).sequence.load(std::memory_order_relaxed);
        return sequence == Slot::filled(head) || sequence == Slot::skipped(head);
    }

    // ---- Anybody: close, isClosed, isDrained, sizeApprox, sizeExact, see RingIntake

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }

protected:
    [[nodiscard]] Index head() const noexcept {
        return head_.load(std::memory_order_relaxed);  // no data follows it
    }

    /// As consume(), but ends when mayTake(position) is false for the oldest message. Once true for
    /// a position, mayTake() must stay true until that message is taken.
    template <class MayTake, class Handler>
    std::size_t consumeIf(const MayTake& mayTake, Handler&& handler, std::size_t max) {
        const std::size_t most = std::min(max, capacity());
        std::size_t count = 0;
        Index head = head_.load(std::memory_order_acquire);  // E6 order
        while (count < most && findOldest(head, count == 0) && mayTake(head)) {
            if (!head_.compare_exchange_weak(head, Positions::next(head), std::memory_order_release,
                                             std::memory_order_acquire)) {  // E6 order
                continue;
            }
            Slot& slot = slotAt(head);
            // Relaxed: findOldest() has acquired this sequence. Only this thread may change it now.
            if (slot.sequence.load(std::memory_order_relaxed) == Slot::filled(head)) {
                ++count;
                const Taken oldest{*this, head, &slot.cell};
                handler(slot.cell.get());
            } else {
                const Taken nothing{*this, head, nullptr};
            }
            head = Positions::next(head);
        }
        return count;
    }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;

    /// A position while its consumer deals with it. The end destroys the message and frees the
    /// slot.
    struct Taken {
        MpmcRing& ring;
        Index position;
        typename Slot::Cell* cell;
        ~Taken() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            ring.slotAt(position).sequence.store(ring.free(position),
                                                 std::memory_order_release);    // E2 reuse
            ring.passed_.fetch_add(Positions::one, std::memory_order_release);  // E5 passed
        }
    };

    Slot& slotAt(Index position) noexcept { return slots_.at(position); }

    /// The sequence after the consumer has freed the slot of `p`: the slot's next position.
    Index free(Index p) const noexcept { return plus(p, slots_.count()); }

    /// Moves `head` on to the newest position. Returns whether there is a message or slot to skip.
    bool findOldest(Index& head, bool isFirstLook) noexcept {
        for (;;) {
            Slot& slot = slotAt(head);
            const Index sequence = slot.sequence.load(std::memory_order_acquire);  // E1 publish
            if (sequence == Slot::filled(head) || sequence == Slot::skipped(head)) {
                return true;
            }
            const Index newest = head_.load(std::memory_order_acquire);  // E6 order
            if (newest == head) {
                if (isFirstLook) {
                    // The first message then costs the time of one line, not of two.
                    prefetchForRead(reinterpret_cast<const unsigned char*>(&slot + 1) - 1);
                }
                return false;
            }
            head = newest;
        }
    }

    std::size_t roomAt(Index tail, std::size_t most) noexcept {
        const Index oldest = static_cast<Index>(tail - plus(0, capacity()));
        std::size_t room = 0;
        for (Index p = oldest; room < most; ++room, p = Positions::next(p)) {
            if (slotAt(p).sequence.load(std::memory_order_acquire) != free(p)) {  // E2 reuse
                break;
            }
        }
        return room;
    }

    const Atomic<Index>& passed() const noexcept { return passed_; }

    // Written by consumers. `head_` is the position of the next message to take. `passed_` is the
    // number of messages and skipped slots that have been dealt with, as a position.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{first};
    Atomic<Index> passed_{first};

    alignas(line) alignas(Storage) Storage slots_;
};

}  // namespace sluice
