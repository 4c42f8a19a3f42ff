#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/queue/detail/sequence_slot.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// A bounded multi-producer, multi-consumer queue, first in first out.
///
///     sluice::MpmcRing<Job, 1024> jobs;
///     if (jobs.tryPush(job) != sluice::SendResult::ok) { ... }  // any thread; `job` is unchanged
///     jobs.consume([](Job& job) { job.run(); });                // each worker
///
/// Use MpmcRing if several threads share the work. Use MpscRing for one consumer, to save a
/// compare-exchange per message. BlockingQueue adds functions that wait.
///
/// Order: messages are taken in the order of their pushes, unless two pushes overlap. Handlers of
/// different consumers may run simultaneously.
///
/// Thread safety: any thread may call any member, including from a handler. A producer preempted
/// mid-push blocks delivery of later messages, so MpmcRing is not strictly lock-free. A consumer
/// preempted in a handler keeps its slot, so pushes that need this slot return `full`.
///
/// Errors: if a constructor of T throws, the slot counts as used until a consumer skips it. A push
/// returns `full` only if the message that precedes it by capacity() pushes still occupies a slot.
///
/// Performance: without interference, a push takes one compare-exchange, and consuming a message
/// takes two read-modify-writes. tryPopAll() takes two read-modify-writes for all its messages.
/// Capacity and memory are as in MpscRing.
template <class T, std::size_t Capacity, class Traits = QueueTraits>
class MpmcRing
    : public detail::SequenceRing<MpmcRing<T, Capacity, Traits>, T, Capacity, 2, Traits> {
    using Shared = detail::SequenceRing<MpmcRing, T, Capacity, 2, Traits>;
    friend Shared;
    using typename Shared::Index;
    using typename Shared::Positions;
    using typename Shared::Slot;
    using typename Shared::Storage;
    template <class U>
    using Atomic = typename Shared::template Atomic<U>;
    using Shared::firstPosition;
    using Shared::line;

public:
    static constexpr bool manyConsumers = true;

    template <std::size_t C = Capacity, std::enable_if_t<C != dynamicCapacity, int> = 0>
    MpmcRing() noexcept {
        detail::initialiseSequences(slots_, firstPosition);
    }

    /// Calls setupError() if the capacity is 0 or too large.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit MpmcRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {
        detail::initialiseSequences(slots_, firstPosition);
    }

    ~MpmcRing() {
        this->close();  // so that a message's destructor cannot push a message
        consume([](T&) noexcept {});
    }

    // Inherited from detail/sequence_slot.hpp: tryPush, tryEmplace, tryPushAll, tryReserve, close,
    // isClosed, isDrained, sizeApprox, sizeExact, capacity and pushCount.

    // ---- Consumers

    /// Removes and returns the oldest message, if any.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if the queue is empty.
    bool tryPop(std::optional<T>& value) {
        static_assert(std::is_nothrow_move_constructible_v<T>,
                      "tryPop() of an MpmcRing would lose a message whose move constructor throws: "
                      "declare the move constructor noexcept, or use consume()");
        return consume([&value](T& message) { value.emplace(std::move(message)); }, 1) != 0;
    }

    /// Moves up to `max` messages, oldest first, to consecutive elements from `to`. Returns the
    /// number of messages. Use a small `max` if handling is slow, because other consumers cannot
    /// take the moved messages.
    template <class Iterator>
    std::size_t tryPopAll(Iterator to, std::size_t max) {
        static_assert(noexcept(*++to = std::declval<T>()),
                      "tryPopAll() would lose messages if an assignment throws: move them to "
                      "elements, and declare the move assignment noexcept");
        std::size_t count = 0;
        Index head = head_.load(std::memory_order_acquire);  // E6 order
        while (count == 0 && max != 0 && findOldest(head, true)) {
            const std::size_t run = readySlots(head, max);
            if (!head_.compare_exchange_weak(head, Positions::advance(head, run),
                                             std::memory_order_release,
                                             std::memory_order_acquire)) {  // E6 order
                continue;
            }
            for (std::size_t i = 0; i < run; ++i, head = Positions::next(head)) {
                Slot& slot = slots_.at(head);
                // Relaxed: acquired before.
                if (slot.sequence.load(std::memory_order_relaxed) == Slot::filled(head)) {
                    *to = std::move(slot.cell.get());
                    ++to;
                    ++count;
                    slot.cell.destroyAndOwnLines();
                }
                slot.sequence.store(freed(head), std::memory_order_release);  // E2 reuse
            }
            passed_.fetch_add(Positions::advance(0, run), std::memory_order_release);  // E5 passed
        }
        return count;
    }

    /// Calls handler(T&) for up to `max` messages, but at most capacity(), oldest first. Other
    /// consumers may take messages between the handler calls. A message is destroyed when its
    /// handler returns or throws. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeIf([](Index) { return true; }, handler, max);
    }

    /// Returns true if consume() would find a message or a skipped slot, unless another consumer
    /// takes it first.
    [[nodiscard]] bool hasArrival() const noexcept {
        const Index position = head();
        // Relaxed: hint.
        return Slot::isFilledOrSkipped(slots_.at(position).sequence.load(std::memory_order_relaxed),
                                       position);
    }

protected:
    [[nodiscard]] Index head() const noexcept {
        return head_.load(std::memory_order_relaxed);  // value only
    }

    /// The position of the next push; outdated if another push begins during the call.
    [[nodiscard]] Index tail() const noexcept {
        return Positions::unmarked(tail_.load(std::memory_order_acquire));
    }

    /// Like consume(), but stops if mayTake(p) returns false for the oldest message's position `p`.
    /// Once mayTake(p) is true, mayTake(p) must stay true until the message of `p` is taken.
    template <class MayTake, class Handler>
    std::size_t consumeIf(const MayTake& mayTake, Handler&& handler, std::size_t max) {
        const std::size_t limit = std::min(max, slots_.capacity());
        std::size_t count = 0;
        Index head = head_.load(std::memory_order_acquire);  // E6 order
        while (count < limit && findOldest(head, count == 0) && mayTake(head)) {
            if (!head_.compare_exchange_weak(head, Positions::next(head), std::memory_order_release,
                                             std::memory_order_acquire)) {  // E6 order
                continue;
            }
            Slot& slot = slots_.at(head);
            // Relaxed: acquired before.
            if (slot.sequence.load(std::memory_order_relaxed) == Slot::filled(head)) {
                ++count;
                const ReleaseGuard guard{*this, head, &slot.cell};
                handler(slot.cell.get());
            } else {
                const ReleaseGuard guard{*this, head, nullptr};
            }
            head = Positions::next(head);
        }
        return count;
    }

private:
    // Happens-before edges (proof: docs/algorithms/mpmc-ring.md):
    //   E1 publish: push -> consume.
    //   E2 reuse: consume -> push.
    //   E3 close: close -> push.
    //   E4 order: push -> push.
    //   E5 passed: consume -> sizeApprox.
    //   E6 order: consume -> consume.
    // Invariant: passed <= head <= tail <= head + capacity.

    struct ReleaseGuard {
        MpmcRing& ring;
        Index position;
        typename Slot::Cell* cell;
        ~ReleaseGuard() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            ring.slots_.at(position).sequence.store(ring.freed(position),
                                                    std::memory_order_release);  // E2 reuse
            ring.passed_.fetch_add(Positions::one, std::memory_order_release);   // E5 passed
        }
    };

    /// The sequence that marks the slot of `p` as free: the slot's next position.
    [[nodiscard]] Index freed(Index p) const noexcept {
        return Positions::advance(p, slots_.count());
    }

    const Atomic<Index>& passed() const noexcept { return passed_; }

    /// The number of free slots, beginning at `tail`, at most `max`; 0 if `tail` is outdated.
    std::size_t freeSlots(Index tail, std::size_t max) noexcept {
        Index previous = static_cast<Index>(tail - Positions::advance(0, slots_.capacity()));
        std::size_t count = 0;
        for (; count < max; ++count, previous = Positions::next(previous)) {
            if (slots_.at(previous).sequence.load(std::memory_order_acquire) !=
                freed(previous)) {  // E2 reuse
                break;
            }
        }
        return count;
    }

    /// The number of consecutive filled or skipped slots, beginning at `head`, at most `max`.
    std::size_t readySlots(Index head, std::size_t max) noexcept {
        std::size_t count = 1;
        while (count < std::min(max, slots_.capacity())) {
            head = Positions::next(head);
            const Index sequence =
                slots_.at(head).sequence.load(std::memory_order_acquire);  // E1 publish
            if (!Slot::isFilledOrSkipped(sequence, head)) {
                break;
            }
            ++count;
        }
        return count;
    }

    /// Advances `head` to the oldest unclaimed slot. Returns true if this slot is filled or
    /// skipped.
    bool findOldest(Index& head, bool isFirst) noexcept {
        for (;;) {
            Slot& slot = slots_.at(head);
            const Index sequence = slot.sequence.load(std::memory_order_acquire);  // E1 publish
            if (sequence == Slot::filled(head) || sequence == Slot::skipped(head)) {
                return true;
            }
            const Index newest = head_.load(std::memory_order_acquire);  // E6 order
            if (newest == head) {
                if (isFirst) {
                    // Prefetches the slot's last cache line for the next message.
                    prefetchForRead(reinterpret_cast<const unsigned char*>(&slot + 1) - 1);
                }
                return false;
            }
            head = newest;
        }
    }

    Atomic<Index> tail_{firstPosition};  // next position to push; marked once closed

    // Written by consumers: head_ is the next position to take, passed_ counts consumed positions.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{firstPosition};
    Atomic<Index> passed_{firstPosition};

    alignas(line) alignas(Storage) Storage slots_;
};

}  // namespace sluice
