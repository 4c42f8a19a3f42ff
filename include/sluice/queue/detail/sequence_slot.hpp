#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// A slot of MpscRing, MpmcRing and OverwriteRing: a message and a sequence number.
template <class T, class Platform, class Index>
struct SequenceSlot {
    using Sequence = typename Platform::template Atomic<Index>;
    using Cell = typename Platform::template Cell<T>;

    Sequence sequence;
    Cell cell;

    /// The sequence of a slot that holds the message of position `p`.
    static constexpr Index filled(Index p) noexcept {
        return static_cast<Index>(p | RingPositions<Index>::mark);
    }
    /// The sequence of a position without message, for example after a constructor threw.
    static constexpr Index skipped(Index p) noexcept { return RingPositions<Index>::next(p); }
    /// skipped(p) is filled(p) + 1, so one comparison tests both sequences.
    static constexpr bool isFilledOrSkipped(Index sequence, Index p) noexcept {
        return static_cast<Index>(sequence - filled(p)) <= Index{1};
    }

    /// Constructs and publishes the message of `p`. Marks `p` as skipped if T's constructor throws.
    template <class... Args>
    SLUICE_ALWAYS_INLINE void fill(Index p, Args&&... args) {
        struct PublishGuard {
            Sequence& word;
            Index sequence;
            ~PublishGuard() { word.store(sequence, std::memory_order_release); }  // E1 publish
        } guard{sequence, skipped(p)};
        cell.construct(std::forward<Args>(args)...);
        guard.sequence = filled(p);
    }
};

/// Marks all slots as free for the lap that begins at `position`.
template <class Storage, class Index>
void initialiseSequences(Storage& slots, Index position) noexcept {
    for (std::size_t i = 0; i < slots.count(); ++i) {
        slots.at(position).sequence.store(position, std::memory_order_relaxed);  // not shared
        position = RingPositions<Index>::next(position);
    }
}

/// The number 1 as a type, so that the compiler specialises claim() for one slot.
using One = std::integral_constant<std::size_t, 1>;

/// The functions of MpscRing and MpmcRing for producers and for any thread. `Ring` supplies tail_,
/// slots_, passed() and freeSlots().
template <class Ring, class T, std::size_t Capacity, std::size_t MinSlots, class Traits>
class SequenceRing {
public:
    using Platform = typename Traits::Platform;

protected:
    using Index = typename Traits::Index;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Positions = RingPositions<Index>;
    using Slot = SequenceSlot<T, Platform, Index>;
    using Storage = RingStorage<Slot, Capacity, Index, MinSlots>;

    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index firstPosition = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(firstPosition), "firstPosition of the traits must be even");

public:
    using value_type = T;
    using Reservation = RingReservation<SequenceRing, T, Traits>;

    // ---- Producers

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }
    template <class U, IfConverts<U, T> = 0>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }

    /// Constructs a T in a free slot. A refused push leaves the arguments unchanged.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        const SlotClaim<Index> claimed = claim(One());
        if (claimed.result == SendResult::ok) {
            ring().slots_.at(claimed.position).fill(claimed.position, std::forward<Args>(args)...);
        }
        return claimed.result;
    }

    /// Pushes as many elements of [begin, end) as fit, as consecutive messages. Takes one
    /// compare-exchange. Returns the number of pushed elements. Needs forward iterators.
    template <class Iterator>
    std::size_t tryPushAll(Iterator begin, Iterator end) {
        std::size_t count = 0;
        for (auto slots = tryReserve(elementsIn(begin, end)); slots; ++begin, ++count) {
            slots.emplace(*begin);
            slots.commit();
        }
        return count;
    }

    /// Reserves the next slot, so that a message can be built in several steps. Later messages are
    /// not delivered until the reservation is committed or destroyed.
    [[nodiscard]] Reservation tryReserve(One one = {}) { return Reservation(*this, claim(one)); }

    /// Reserves up to `max` slots with one compare-exchange.
    [[nodiscard]] Reservation tryReserve(std::size_t max) {
        return Reservation(*this, claim(std::min(max, capacity())));
    }

    // ---- Any thread

    /// Refuses later pushes; idempotent. A push during the call is either refused or delivered.
    void close() noexcept {
        ring().tail_.fetch_or(Positions::mark, std::memory_order_release);  // E3 close
    }

    [[nodiscard]] bool isClosed() const noexcept {
        return Positions::isMarked(ring().tail_.load(std::memory_order_acquire));
    }

    /// Returns true once the queue is closed and empty and no push or handler is running.
    [[nodiscard]] bool isDrained() const noexcept {
        const Index tail = ring().tail_.load(std::memory_order_acquire);
        return Positions::isMarked(tail) &&
               Positions::unmarked(tail) == ring().passed().load(std::memory_order_acquire);  // E5
    }

    /// The approximate number of messages queued, being pushed or handled; at most capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Loads passed() before tail_, so that tail - passed cannot become negative.
        const Index passed = ring().passed().load(std::memory_order_acquire);  // E5 passed
        const Index tail = Positions::unmarked(ring().tail_.load(std::memory_order_acquire));
        return std::min(Positions::distance(passed, tail), capacity());
    }

    /// The exact size at some moment of the call. Retries while consumers free slots.
    [[nodiscard]] std::size_t sizeExact() const noexcept {
        return std::min(Positions::exactDistance(ring().passed(), ring().tail_), capacity());
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return ring().slots_.capacity(); }

    /// The number of slots that pushes have claimed so far, modulo half the range of Index.
    [[nodiscard]] Index pushCount() const noexcept {
        const Index tail = Positions::unmarked(ring().tail_.load(std::memory_order_acquire));
        return static_cast<Index>(static_cast<Index>(tail - firstPosition) / Positions::one);
    }

private:
    friend Reservation;
    auto& cellAt(Index position) noexcept { return ring().slots_.at(position).cell; }
    void publish(Index position) noexcept { settle(position, Slot::filled(position)); }
    void giveUp(Index position) noexcept { settle(position, Slot::skipped(position)); }
    void settle(Index position, Index sequence) noexcept {
        ring().slots_.at(position).sequence.store(sequence, std::memory_order_release);  // E1
    }

    Ring& ring() noexcept { return static_cast<Ring&>(*this); }
    const Ring& ring() const noexcept { return static_cast<const Ring&>(*this); }

    template <class Max>
    SLUICE_ALWAYS_INLINE SlotClaim<Index> claim(Max max) noexcept {
        auto& tailWord = ring().tail_;
        // Each push prefetches the slot of a later push, because stores to a slot that is not in
        // the cache would delay the next compare-exchange.
        constexpr std::size_t prefetchDistance = 6;
        Index tail = tailWord.load(std::memory_order_acquire);  // E4 order
        for (;;) {
            if (Positions::isMarked(tail)) {
                return {SendResult::closed, 0, 0};
            }
            const std::size_t available = ring().freeSlots(tail, max);
            const std::size_t count = std::is_same_v<Max, One> ? 1 : available;
            if (available == 0 && max != 0) {
                // Full only if `tail` is current: freeSlots() also returns 0 if `tail` is outdated.
                const Index newest = tailWord.load(std::memory_order_acquire);  // E4 order
                if (newest == tail) {
                    return {SendResult::full, 0, 0};
                }
                tail = newest;
            } else if (tailWord.compare_exchange_weak(tail, Positions::advance(tail, count),
                                                      std::memory_order_release,
                                                      std::memory_order_acquire)) {  // E4 order
                const Slot& later =
                    ring().slots_.at(Positions::advance(tail, count - 1 + prefetchDistance));
                prefetchForWrite(&later);
                prefetchForWrite(reinterpret_cast<const unsigned char*>(&later + 1) - 1);
                return {SendResult::ok, tail, count};
            }
        }
    }
};

}  // namespace sluice::detail
