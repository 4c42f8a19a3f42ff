#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/queue/detail/sequence_slot.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// A bounded multi-producer, single-consumer queue with one order for all messages.
///
///     sluice::MpscRing<Job, 1024> jobs;
///     if (jobs.tryPush(job) != sluice::SendResult::ok) { ... }  // any thread; `job` is unchanged
///     jobs.consume([](Job& job) { job.run(); });                // the consumer
///
/// Use MpscRing if the order across producers matters, or for short-lived producers without
/// handles. MpscLanes keeps only the order of each producer, but needs no read-modify-writes. Use
/// SpscRing for one producer, SegmentQueue for unlimited messages, and BlockingQueue to wait.
///
/// Thread safety: any thread may call any member, including from a handler. Only one thread at a
/// time may call the consumer's members; handing over the consumer's role needs synchronization. A
/// producer preempted mid-push blocks later messages, so MpscRing is not strictly lock-free.
///
/// Errors: if a constructor of T throws, the slot counts as used until the consumer skips it. A
/// push returns `full` only if all capacity() slots were in use at some moment during the call. A
/// slot is in use while its message is queued, being pushed or being handled.
///
/// Performance: a push takes one compare-exchange unless another push interferes; consuming is
/// wait-free. The capacity (1 to a quarter of the Index range) is exact; the storage is rounded up
/// to a power of two. Only the constructor allocates memory, and only with dynamicCapacity.
template <class T, std::size_t Capacity, class Traits = QueueTraits>
class MpscRing
    : public detail::SequenceRing<MpscRing<T, Capacity, Traits>, T, Capacity, 1, Traits> {
    using Shared = detail::SequenceRing<MpscRing, T, Capacity, 1, Traits>;
    friend Shared;
    using typename Shared::Index;
    using typename Shared::Positions;
    using typename Shared::Slot;
    using typename Shared::Storage;
    template <class U>
    using Atomic = typename Shared::template Atomic<U>;
    using Shared::firstPosition;
    using Shared::line;
    using RoleCheck = sluice::RoleCheck<typename Traits::Platform>;

public:
    template <std::size_t C = Capacity, std::enable_if_t<C != dynamicCapacity, int> = 0>
    MpscRing() noexcept {
        detail::initialiseSequences(slots_, firstPosition);
    }

    /// Calls setupError() if the capacity is 0 or too large.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit MpscRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {
        detail::initialiseSequences(slots_, firstPosition);
    }

    ~MpscRing() {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            this->close();  // so that a message's destructor cannot push a message
            consume([](T&) noexcept {});
        }
    }

    // Inherited from detail/sequence_slot.hpp: tryPush, tryEmplace, tryPushAll, tryReserve, close,
    // isClosed, isDrained, sizeApprox, sizeExact, capacity and pushCount.

    // ---- Consumer

    /// Removes and returns the oldest message, if any. The message stays queued if its move throws.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if the queue is empty.
    bool tryPop(std::optional<T>& value) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        // Relaxed: own variable.
        for (Index head = head_.load(std::memory_order_relaxed);; head = Positions::next(head)) {
            Slot& slot = slots_.at(head);
            const Index sequence = slot.sequence.load(std::memory_order_acquire);  // E1 publish
            if (sequence == Slot::filled(head)) {
                value.emplace(std::move(slot.cell.get()));
                const ReleaseGuard guard{*this, head, &slot.cell};
                return true;
            }
            if (sequence != Slot::skipped(head)) {
                return false;
            }
            const ReleaseGuard guard{*this, head, nullptr};
        }
    }

    /// Calls handler(T&) for up to `max` messages, oldest first. Handles at most capacity()
    /// messages, so that consume() returns even if handlers keep pushing. A message is destroyed
    /// when its handler returns or throws. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeWhile(std::forward<Handler>(handler), max, [] { return true; });
    }

    /// Like consume(), but stops when keepGoing() returns false. Calls keepGoing() after each
    /// message or skipped slot, once the slot is free.
    template <class Handler, class Predicate>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, Predicate&& keepGoing) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const std::size_t limit = std::min(max, slots_.capacity());
        std::size_t count = 0;
        // Relaxed: own variable. The loop keeps a copy of head_, because reading head_ after each
        // store would wait for the store.
        for (Index head = head_.load(std::memory_order_relaxed); count < limit;
             head = Positions::next(head)) {
            Slot& slot = slots_.at(head);
            const Index sequence = slot.sequence.load(std::memory_order_acquire);  // E1 publish
            if (sequence == Slot::filled(head)) {
                ++count;
                const ReleaseGuard guard{*this, head, &slot.cell};
                handler(slot.cell.get());
            } else if (sequence == Slot::skipped(head)) {
                const ReleaseGuard guard{*this, head, nullptr};
            } else {
                if (count == 0) {
                    // Prefetches the slot's last cache line for the next message.
                    prefetchForRead(reinterpret_cast<const unsigned char*>(&slot + 1) - 1);
                }
                break;
            }
            if (!keepGoing()) {
                break;
            }
        }
        return count;
    }

    /// Returns true if consume() would find a message or a skipped slot.
    [[nodiscard]] bool hasArrival() const noexcept { return arrival()(); }

    /// Returns hasArrival() as a function object that is valid until the consumer frees a slot.
    [[nodiscard]] auto arrival() const noexcept {
        return arrivalAt(head_.load(std::memory_order_relaxed));  // own variable
    }

    /// Returns true if a message or skipped slot follows the oldest message. Unlike sizeApprox(),
    /// hasSecond() avoids the cache line that every push writes.
    [[nodiscard]] bool hasSecond() const noexcept {
        return arrivalAt(Positions::next(head_.load(std::memory_order_relaxed)))();  // own variable
    }

private:
    // Happens-before edges (proof: docs/algorithms/rings.md):
    //   E1 publish: push -> consume.
    //   E2 reuse: consume -> push.
    //   E3 close: close -> push.
    //   E4 order: push -> push.
    //   E5 passed: consume -> sizeApprox.
    // Invariant: cachedHead <= head <= tail <= head + capacity.

    struct ReleaseGuard {
        MpscRing& ring;
        Index head;
        typename Slot::Cell* cell;
        ~ReleaseGuard() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            ring.head_.store(Positions::next(head), std::memory_order_release);  // E2, E5
        }
    };

    const Atomic<Index>& passed() const noexcept { return head_; }

    /// The number of free slots, beginning at `tail`, at most `max`; 0 if `tail` is outdated.
    template <class Max>
    std::size_t freeSlots(Index tail, Max max) noexcept {
        const std::size_t used = Positions::distance(cachedHead_.load(std::memory_order_acquire),
                                                     tail);  // E2 reuse, second step
        return used < slots_.capacity() - (max - 1) ? std::size_t{max} : freeSlotsByHead(tail, max);
    }

    // Out of line, so that a push is small enough for inlining.
    [[gnu::noinline]] std::size_t freeSlotsByHead(Index tail, std::size_t max) noexcept {
        const Index head = head_.load(std::memory_order_acquire);  // E2 reuse
        // Overwriting a newer cachedHead_ is harmless: a later push only reads head_ once more.
        cachedHead_.store(head, std::memory_order_release);  // E2 reuse, second step
        const std::size_t used = Positions::distance(head, tail);
        return used < slots_.capacity() ? std::min(max, slots_.capacity() - used) : 0;
    }

    [[nodiscard]] auto arrivalAt(Index position) const noexcept {
        const Atomic<Index>& word = slots_.at(position).sequence;
        return [position, &word]() noexcept {
            return Slot::isFilledOrSkipped(word.load(std::memory_order_relaxed), position);  // hint
        };
    }

    Atomic<Index> tail_{firstPosition};        // next position to push; marked once closed
    Atomic<Index> cachedHead_{firstPosition};  // lower bound of head_; written by producers

    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{firstPosition};  // by the consumer
    RoleCheck consumerRole_;

    alignas(line) alignas(Storage) Storage slots_;
};

}  // namespace sluice
