#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/send_result.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// A slot of a ring with several producers: the message and its sequence. The sequence tells for
/// which position the slot holds a message.
template <class T, class Platform, class Index>
struct SequenceSlot {
    using Sequence = typename Platform::template Atomic<Index>;
    using Cell = typename Platform::template Cell<T>;

    Sequence sequence;
    Cell cell;

    /// The sequence when the message of position `p` is in the slot. It is odd, all others are
    /// even.
    static constexpr Index filled(Index p) noexcept {
        return static_cast<Index>(p | RingPositions<Index>::mark);
    }
    /// The sequence when the producer of position `p` gave up, as when a constructor threw.
    static constexpr Index skipped(Index p) noexcept { return RingPositions<Index>::next(p); }
    /// One comparison is enough, because skipped(p) is filled(p) + 1.
    static constexpr bool isFilledOrSkipped(Index sequence, Index p) noexcept {
        return static_cast<Index>(sequence - filled(p)) <= Index{1};
    }
};

/// The producers' side of a ring with several producers, and its closing. MpscRing and MpmcRing
/// derive from it. They add the slots, the consumers' side, and the number of slots that are free
/// from a position on.
///
/// A derived class has, for this class only:
/// - slotAt(position): the slot of a position;
/// - roomAt(tail, most): how many positions from `tail` on may be filled, at most `most`. It may
///   answer 0 when `tail` is older than the newest one;
/// - passed(): the atomic that counts, as a position, how many messages have been consumed.
///
/// Invariants, on unbounded positions: passed <= tail. Each position below tail belongs to exactly
/// one push. This push alone writes the slot, and its sequence last.
///
/// Edges: E1 publish: message written -> sequence release .. sequence acquire -> message read. E3
/// close: the closed mark is part of tail, so every claim is ordered before or after it by tail
/// itself. E4 order: claim release .. acquire next claim: a producer that sees a claim also sees
/// the room that the claiming producer saw.
template <class Ring, class T, class Traits>
class RingIntake {
protected:
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = sluice::RingPositions<Index>;
    using Slot = SequenceSlot<T, Platform, Index>;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    using value_type = T;
    class Reservation;

    RingIntake(const RingIntake&) = delete;
    RingIntake& operator=(const RingIntake&) = delete;

    // ---- Producers

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }

    /// Constructs the message in its slot. Cost: one compare-exchange if no other push interferes.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        Index position = 0;
        std::size_t slots = 0;
        const SendResult admission = claim(position, slots, One());
        if (admission == SendResult::ok) {
            Slot& slot = ring().slotAt(position);
            Publication publication{slot.sequence, Slot::skipped(position)};
            slot.cell.construct(std::forward<Args>(args)...);
            publication.sequence = Slot::filled(position);
        }
        return admission;
    }

    /// Pushes the messages of a range of forward iterators, as many as there is room for, with one
    /// compare-exchange. No other message comes between them. Returns the number of pushed
    /// messages; the others are unchanged.
    template <class Iterator>
    std::size_t tryPushAll(Iterator begin, Iterator end) {
        std::size_t count = 0;
        const auto wanted = static_cast<std::size_t>(std::distance(begin, end));
        for (auto slots = tryReserve(wanted); slots; ++begin, ++count) {
            slots.emplace(*begin);
            slots.commit();
        }
        return count;
    }

    /// Reserves the next slot, to construct and fill the message there in several steps. Later
    /// messages wait until the reservation has ended.
    [[nodiscard]] Reservation tryReserve() { return Reservation(*this, One()); }

    /// Reserves as many of the next `most` slots as are free, with one compare-exchange.
    [[nodiscard]] Reservation tryReserve(std::size_t most) {
        return Reservation(*this, std::min(most, ring().capacity()));
    }

    // ---- Anybody

    /// Refuses later pushes. A push that runs at the same time is either refused, or accepted and
    /// delivered. May be called repeatedly.
    void close() noexcept { tail_.fetch_or(Positions::mark, std::memory_order_release); }  // E3

    [[nodiscard]] bool isClosed() const noexcept {
        return Positions::isMarked(tail_.load(std::memory_order_acquire));
    }

    /// Whether the queue is closed, nothing is in it, no push is under way, and no handler of a
    /// message runs. Once true, it stays true.
    [[nodiscard]] bool isDrained() const noexcept {
        const Index tail = tail_.load(std::memory_order_acquire);
        return Positions::isMarked(tail) &&
               Positions::unmarked(tail) == ring().passed().load(std::memory_order_acquire);
    }

    /// The number of messages that were in the queue, being pushed or being handled, approximately
    /// at some moment during the call. It is never more than capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Acquire: a thread that counts a message as removed also sees its handler's writes. This
        // load comes first: if tail moves on in between, the difference only becomes larger. The
        // capacity bounds it.
        const Index passed = ring().passed().load(std::memory_order_acquire);
        const Index tail = Positions::unmarked(tail_.load(std::memory_order_acquire));
        return std::min(Positions::distance(passed, tail), ring().capacity());
    }

    /// The number of messages at exactly one moment. It looks again if a message was removed
    /// between its looks.
    [[nodiscard]] std::size_t sizeExact() const noexcept {
        for (;;) {
            const Index passed = ring().passed().load(std::memory_order_acquire);
            // E4 order: the next load of `passed` sees at least what these claims saw.
            const Index tail = Positions::unmarked(tail_.load(std::memory_order_acquire));
            // Relaxed: the first load has acquired this value.
            if (ring().passed().load(std::memory_order_relaxed) == passed) {
                return std::min(Positions::distance(passed, tail), ring().capacity());
            }
        }
    }
    [[deprecated("renamed: sizeExact()")]] [[nodiscard]] std::size_t sizeAtOnce() const noexcept {
        return sizeExact();
    }

    /// The number of slots that pushes have claimed so far, modulo half the range of Index.
    [[nodiscard]] Index pushCount() const noexcept {
        return static_cast<Index>(static_cast<Index>(tail() - first) / Positions::one);
    }

protected:
    RingIntake() = default;
    ~RingIntake() = default;

    static constexpr Index first = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(first), "firstPosition of the traits must be even");

    /// The position of the next push. Later pushes may have begun.
    [[nodiscard]] Index tail() const noexcept {
        return Positions::unmarked(tail_.load(std::memory_order_acquire));
    }

    /// Marks all slots as empty. The constructor of the ring calls it.
    void initialiseSequences(std::size_t slots) noexcept {
        Index position = first;
        for (std::size_t i = 0; i < slots; ++i, position = Positions::next(position)) {
            ring().slotAt(position).sequence.store(
                position, std::memory_order_relaxed);  // relaxed: not shared yet
        }
    }

    /// The position that is `count` after `position`.
    static constexpr Index plus(Index position, std::size_t count) noexcept {
        return static_cast<Index>(position + static_cast<Index>(count * Positions::one));
    }

private:
    /// A compare-exchange waits until all earlier writes have left the processor. So each push
    /// prefetches a slot that will be written this many pushes later.
    static constexpr std::size_t lookAhead = 8;

    /// Tells the consumer about a claimed slot, also when the constructor throws.
    struct Publication {
        Atomic<Index>& word;
        Index sequence;
        ~Publication() { word.store(sequence, std::memory_order_release); }  // E1 publish
    };

    Ring& ring() noexcept { return static_cast<Ring&>(*this); }
    const Ring& ring() const noexcept { return static_cast<const Ring&>(*this); }

    /// A number of slots as a type, so that the usual claim is compiled for one slot.
    using One = std::integral_constant<std::size_t, 1>;

    /// Claims at most `most` positions. Sets `position` to the first one, `slots` to their number.
    template <class Most>
    SendResult claim(Index& position, std::size_t& slots, Most most) noexcept {
        Index tail = tail_.load(std::memory_order_acquire);  // E4 order
        for (;;) {
            if (Positions::isMarked(tail)) {
                return SendResult::closed;
            }
            const std::size_t room = ring().roomAt(tail, most);
            slots = std::is_same_v<Most, One> ? 1 : room;
            if (room == 0) {
                const Index newest = tail_.load(std::memory_order_acquire);  // E4 order
                if (newest == tail) {
                    return SendResult::full;
                }
                tail = newest;
            } else if (tail_.compare_exchange_weak(tail, plus(tail, slots),
                                                   std::memory_order_release,
                                                   std::memory_order_acquire)) {  // E4 order
                position = tail;
                prefetchEndsForWrite(ring().slotAt(plus(tail, slots - 1 + lookAhead)));
                return SendResult::ok;
            }
        }
    }

    // The position of the next push; written by producers, and marked by close().
    Atomic<Index> tail_{first};
};

/// Slots held by a producer, from tryReserve() on. The producer fills and commits them one after
/// the other. The consumer skips the slots that were not committed.
template <class Ring, class T, class Traits>
class RingIntake<Ring, T, Traits>::Reservation {
public:
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        if (message_ != nullptr) {
            slot().cell.destroy();
        }
        while (left_ != 0) {
            end(Slot::skipped(position_));
        }
    }

    /// Whether a slot is reserved and not committed yet. If none is, result() tells why.
    explicit operator bool() const noexcept { return left_ != 0; }
    SendResult result() const noexcept { return result_; }

    /// The number of slots that are reserved and not committed yet.
    [[nodiscard]] std::size_t size() const noexcept { return left_; }

    /// The number of pushes before the push of the current slot. Skipped pushes count.
    [[nodiscard]] Index number() const noexcept {
        return static_cast<Index>(static_cast<Index>(position_ - first) / Positions::one);
    }

    /// Constructs the message in the current slot. Call it once for each slot.
    template <class... Args>
    T& emplace(Args&&... args) {
        SLUICE_ASSERT(left_ != 0 && message_ == nullptr,
                      "emplace needs a reservation that succeeded, is not committed and holds no "
                      "message yet");
        message_ = std::addressof(slot().cell.construct(std::forward<Args>(args)...));
        return *message_;
    }

    T& operator*() const noexcept { return *message_; }
    T* operator->() const noexcept { return message_; }

    /// Publishes the message. If slots are left, the next one becomes the current slot. Otherwise
    /// the reservation has ended.
    void commit() noexcept {
        SLUICE_ASSERT(left_ != 0 && message_ != nullptr,
                      "commit without a message: call emplace first, commit once");
        message_ = nullptr;
        end(Slot::filled(position_));
    }

private:
    friend class RingIntake;
    template <class Most>
    Reservation(RingIntake& intake, Most most) noexcept
        : ring_(intake.ring()), result_(intake.claim(position_, left_, most)) {
        if (result_ != SendResult::ok) {
            left_ = 0;
        }
    }

    Slot& slot() const noexcept { return ring_.slotAt(position_); }
    void end(Index sequence) noexcept {
        slot().sequence.store(sequence, std::memory_order_release);  // E1 publish
        position_ = Positions::next(position_);
        --left_;
    }

    Ring& ring_;
    Index position_ = 0;
    std::size_t left_ = 0;
    SendResult result_;
    T* message_ = nullptr;
};

}  // namespace sluice::detail
