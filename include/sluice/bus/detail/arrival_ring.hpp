#pragma once

#include <sluice/base/prefetch.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/admission.hpp>
#include <sluice/bus/detail/slot_list.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// What a publisher tells of a slot that it has filled.
struct Arrival {
    Priority priority;
    bool isToBeSeen;  ///< by the consumer, as soon as it finds the slot
};

/// Lets messages in while there is room for their priority, hands each a slot of its own, and tells
/// the consumer which slots have been filled, in the order in which they were let in.
///
/// Slots come back in another order than they went out, since urgent messages overtake. So the
/// consumer deals them out: it writes into each place of the ring whose turn it is. The claim with
/// the number n is for the slot that lies at n, and the release with the number m puts its slot at
/// m + depth. Publishers only read the ring. That a slot is filled, and for which claim, they write
/// into the slot itself, so that a message and the word of it cross between two cores as one.
///
/// Of messages of high priority the consumer hears by a count as well: see UrgentCount. If a
/// publisher that was stopped in the middle bars the way to one, the consumer takes it out of turn.
///
/// Who may call what: claim, slot, askForLines, fill and refreshUsed by publishers, with
/// Producers::one by one thread at a time; countArrived, notPassed, usedUpTo, usedUpToCounted,
/// isFrontAtLeast, passFront, passTaken, takeUrgent, hasArrival, canRelease and release by the
/// consumer; the rest by anybody.
///
/// Progress: publishing is lock-free: a failed compare-exchange means that another claim got
/// through; with Producers::one it is wait-free. A publisher that is stopped between claim and fill
/// delays what was let in after it, but for high priority; and when the ring has come round to its
/// place, all other publishers. Consuming is wait-free.
///
/// Invariants, on unbounded positions: released <= arrived <= admitted <= released + Depth but for
/// what was taken out of turn, which may be released before it has arrived; releasedCopy <=
/// released; released + Depth <= arrived + places, so no turn is rewritten before it has arrived.
/// The slot at n belongs to the publisher with the claim n until it is marked as filled for n, and
/// to the consumer from then on until it is released. The mark of a slot is never that of a
/// position which the slot has yet to be filled for.
///
/// Edges: E1 publish: slot filled -> mark release .. mark acquire -> slot read. E2 reuse: slot last
/// used and turn written -> released release .. released acquire -> [releasedCopy release
/// .. releasedCopy acquire ->] turn read, slot written. E3 close and E4 order: see SharedAdmission
/// and SoleAdmission; who sees a claim sees as much of `released` as its publisher did. E5 urgent:
/// slot marked -> next claim release .. acquire in takeUrgent -> mark read.
///
/// Origin: a ring of slots' numbers as in io_uring's table of provided buffers; marks with the
/// position, in the slots, as in D. Vyukov's bounded queue.
///
/// Tests: tests/unit/bus/admission_test.cpp, priority_test.cpp, tests/model/bus_model_test.cpp.
template <class Envelope, class Traits, std::size_t Depth, Producers Publishers>
class ArrivalRing {
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = sluice::RingPositions<Index>;
    using Distance = std::make_signed_t<Index>;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    static constexpr std::size_t depth = Depth;
    using Slot = SlotNumber<depth>;

    enum class Answer : unsigned char { admitted, noRoom, closed };

    /// `count` places of the ring from `position` on, and the slots that lie there.
    struct Claim {
        Answer answer;
        Index position;
        std::size_t count;
        std::size_t
            used;  ///< slots in use before it: never fewer than there were, exact if refused
    };

    ArrivalRing() noexcept {
        for (std::size_t i = 0; i < depth; ++i) {
            // Relaxed: not shared yet.
            turnAt(after(first, i)).store(turnOf(static_cast<Slot>(i)), std::memory_order_relaxed);
        }
    }

    [[nodiscard]] Envelope& operator[](Slot slot) noexcept { return slots_[slot].envelope; }

    // ---- Publishers

    /// Admits as many messages, at most `count`, as the limit leaves room for. Each must be filled.
    [[gnu::always_inline]] Claim claim(std::size_t limit, std::size_t count = 1) noexcept {
        Index position = admission_.next();
        for (;;) {
            if (Positions::isMarked(position)) {
                return {Answer::closed, 0, 0, 0};
            }
            const std::size_t used = usedBefore(position, limit, count);
            if (used > depth) {
                // The releases have passed this position: it is an old one.
                position = admission_.next();
                continue;
            }
            if (used >= limit) {
                return {Answer::noRoom, 0, 0, used};
            }
            const std::size_t admitted = std::min(count, limit - used);
            if (admission_.tryClaim(position, after(position, admitted))) {
                return {Answer::admitted, position, admitted, used};
            }
        }
    }

    /// The slot of the claim's place `i`.
    [[nodiscard]] Slot slot(const Claim& claim, std::size_t i) const noexcept {
        // Relaxed: E2 has made it visible.
        return slotOf(turnAt(after(claim.position, i)).load(std::memory_order_relaxed));
    }

    /// Asks for the lines of the first claimed slot, all at once, which a consumer that waits for
    /// the message may have taken; and for those of a slot that will be claimed soon.
    void askForLines(const Claim& claim, Slot claimed) const noexcept {
        prefetchEndsForWrite(slots_[claimed]);
        prefetchEndsForWrite(slots_[slot(claim, lookAhead)]);
    }

    /// The slot of the claim's place `i` is ready.
    void fill(const Claim& claim, std::size_t i, Slot slot, Arrival arrival) noexcept {
        slots_[slot].mark.store(filledFor(after(claim.position, i), arrival),
                                std::memory_order_release);  // E1 publish
    }

    /// How many messages were let in before the one at the claim's place `i`.
    static std::uint64_t number(const Claim& claim, std::size_t i) noexcept {
        return static_cast<Index>(after(claim.position, i) - first) / Positions::one;
    }

    /// Slots in use; makes the `used` of later claims exact again.
    [[gnu::noinline]] std::size_t refreshUsed() noexcept {
        Index released{};
        const std::size_t used = countUsed(released);
        releasedCopy_.store(released, std::memory_order_release);  // E2, second step
        return used;
    }

    // ---- The consumer

    /// Counts what has arrived, at most `max`, before anything is done about it: so the processor
    /// asks for many lines at once. If there is nothing it asks for the next message's first line
    /// together with that of its mark, so that a lonely message comes in the time of one line. It
    /// ends where it finds nothing for the first time: who looks there again follows a publisher at
    /// its heels. `max` is at most the depth: beyond that a look could come round to turns that
    /// have not been passed.
    std::size_t countArrived(std::size_t max) const noexcept {
        std::size_t count = 0;
        Index position = arrived_;
        for (; count != max && hasArrived(position); ++count) {
            position = Positions::next(position);
        }
        if (count == 0) {
            prefetchForRead(&slots_[slotOf(turnAt(position).load(std::memory_order_relaxed))]);
        }
        return count;
    }

    /// Up to where messages have been let in.
    [[nodiscard]] Index end() const noexcept { return admission_.end(); }

    /// Messages up to `end` that have not been passed.
    [[nodiscard]] std::size_t notPassed(Index end) const noexcept { return between(arrived_, end); }

    /// Slots in use up to `end`, or fewer where messages were taken out of turn.
    [[nodiscard]] std::size_t usedUpTo(Index end) const noexcept {
        return between(released_.load(std::memory_order_relaxed), end);  // own variable
    }
    /// The same up to the end of what has been counted, so many.
    [[nodiscard]] std::size_t usedUpToCounted(std::size_t counted) const noexcept {
        return usedUpTo(after(arrived_, counted));
    }

    /// Whether the front of what has been counted is there still and has at least this priority.
    [[nodiscard]] [[gnu::always_inline]] bool isFrontAtLeast(Priority priority) const noexcept {
        const Turn turn = turnAt(arrived_).load(std::memory_order_relaxed);  // own variable
        // Relaxed: passFront() loads the mark again.
        const Mark mark = slots_[slotOf(turn)].mark.load(std::memory_order_relaxed);
        return (turn & taken) == 0 && arrivalOf(mark).priority >= priority;
    }

    /// Passes the front of what has been counted, and calls arrived(slot, arrival). False when the
    /// message there was taken out of turn.
    template <class Arrived>
    [[gnu::always_inline]] bool passFront(Arrived&& arrived) {
        const Index position = std::exchange(arrived_, Positions::next(arrived_));
        const Turn turn = turnAt(position).load(std::memory_order_relaxed);  // own variable
        const Slot slot = slotOf(turn);
        if ((turn & taken) != 0) {
            // One lap later the place may be looked at before it has been written.
            turnAt(position).store(turnOf(slot), std::memory_order_relaxed);  // own variable
            return false;
        }
        const Arrival arrival =
            arrivalOf(slots_[slot].mark.load(std::memory_order_acquire));  // E1 publish
        arrived(slot, arrival);
        return true;
    }

    /// Passes what was taken out of turn, up to the next message. Returns how much.
    std::size_t passTaken() noexcept {
        std::size_t count = 0;
        // Relaxed: own variable.
        while ((turnAt(arrived_).load(std::memory_order_relaxed) & taken) != 0) {
            (void)passFront([](Slot, Arrival) noexcept {});
            ++count;
        }
        return count;
    }

    /// Calls arrived(slot, arrival) for messages of high priority, whether or not those before
    /// them have arrived. Each must have had a claim of its own: see E5.
    template <class Arrived>
    void takeUrgent(Arrived&& arrived) {
        // E5 urgent: who sees a claim sees the marks of all claims that its publisher had made
        // before, or a message would overtake its own predecessor.
        const Index end = admission_.end();
        for (Index position = arrived_; position != end; position = Positions::next(position)) {
            const Turn turn = turnAt(position).load(std::memory_order_relaxed);  // own variable
            const Slot slot = slotOf(turn);
            const Mark mark = slots_[slot].mark.load(std::memory_order_acquire);  // E1 publish
            if ((turn & taken) == 0 && isFilledFor(mark, position) &&
                arrivalOf(mark).priority == Priority::high) {
                // Relaxed: its publisher is done with it; others read it for a hint alone.
                turnAt(position).store(turn | taken, std::memory_order_relaxed);
                arrived(slot, arrivalOf(mark));
            }
        }
    }

    /// Whether release() would give a slot back.
    [[nodiscard]] bool canRelease() const noexcept {
        return hasPlaceAfter(released_.load(std::memory_order_relaxed));  // own variable
    }

    /// Gives a slot back. False when that must wait, as the publisher that is to tell about the
    /// place has been stopped.
    [[gnu::always_inline]] bool release(Slot slot) noexcept {
        const Index position = released_.load(std::memory_order_relaxed);  // own variable
        if (!hasPlaceAfter(position)) {
            return false;
        }
        const Index place = after(position, depth);
        // A message that others have overtaken for so long that its position comes round.
        Atomic<Mark>& mark = slots_[slot].mark;
        if (__builtin_expect(isFilledFor(mark.load(std::memory_order_relaxed), place), 0)) {
            mark.store(0, std::memory_order_relaxed);  // E2 by what follows, as below
        }
        turnAt(place).store(turnOf(slot), std::memory_order_relaxed);
        released_.store(Positions::next(position), std::memory_order_release);  // E2 reuse
        return true;
    }

    /// Whether something has arrived that has not been passed; after passTaken(), a message.
    [[nodiscard]] bool hasArrival() const noexcept { return hasArrived(arrived_); }

    // ---- Anybody

    void close() noexcept { admission_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return admission_.isClosed(); }

    /// Whether it is closed and everything it let in has been released: for good.
    [[nodiscard]] bool isDrained() const noexcept { return admission_.isDrained(released_); }

    /// Slots in use at some moment during the call.
    [[nodiscard]] std::size_t used() const noexcept {
        Index released{};
        return countUsed(released);
    }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index first = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(first), "firstPosition of the traits must be even");

    /// Twice as many as slots: so the turns that the consumer writes lie far from those that
    /// publishers read, and neither takes the other's line away.
    static constexpr std::size_t places = 2 * roundUpToPowerOfTwo(depth);
    static_assert(2 * places <= Positions::maxCapacity,
                  "the depth of a bus must be at most a sixteenth of its Index type's range");
    static_assert(depth <= (std::size_t{1} << 27U), "the depth of a bus must be at most 2^27");

    /// A compare-exchange waits until all earlier writes have left the processor, so their lines
    /// must be there by then. Measured: 4 is too late and 16 takes lines away that are being read.
    static constexpr std::size_t lookAhead = 8;

    // A turn is the number of a slot and, below it, whether its message was taken out of turn.
    using Turn = std::conditional_t<depth <= 0x8000, std::uint16_t, std::uint32_t>;
    static constexpr Turn taken = 1;

    static constexpr Turn turnOf(Slot slot) noexcept {
        return static_cast<Turn>(std::uint32_t{slot} << 1U);
    }
    static constexpr Slot slotOf(Turn turn) noexcept { return static_cast<Slot>(turn >> 1U); }

    // A mark is as much of a position as there is room for and, below it, what was told of the
    // arrival, and whether the slot has ever been filled.
    using Mark = std::uint32_t;
    static constexpr Mark filled = 1;
    static constexpr Mark toBeSeen = 2;
    static constexpr unsigned priorityShift = 2;
    static constexpr unsigned positionShift = 4;
    static constexpr Mark arrivalMask = (Mark{1} << positionShift) - 1 - filled;

    static constexpr Mark filledFor(Index position, Arrival arrival) noexcept {
        return static_cast<Mark>(position / Positions::one) << positionShift |
               static_cast<Mark>(arrival.priority) << priorityShift |
               (arrival.isToBeSeen ? toBeSeen : 0) | filled;
    }
    static constexpr bool isFilledFor(Mark mark, Index position) noexcept {
        return (mark & ~arrivalMask) == filledFor(position, {Priority::low, false});
    }
    [[gnu::always_inline]] static constexpr Arrival arrivalOf(Mark mark) noexcept {
        return {static_cast<Priority>(mark >> priorityShift & 3U), (mark & toBeSeen) != 0};
    }

    static constexpr Index after(Index position, std::size_t count) noexcept {
        return static_cast<Index>(position + static_cast<Index>(count * Positions::one));
    }

    /// None if `end` lies before `begin`.
    static constexpr std::size_t between(Index begin, Index end) noexcept {
        return static_cast<Distance>(end - begin) > 0 ? Positions::distance(begin, end) : 0;
    }

    Atomic<Turn>& turnAt(Index position) noexcept {
        return turns_[Positions::slot(position, places - 1)];
    }
    const Atomic<Turn>& turnAt(Index position) const noexcept {
        return turns_[Positions::slot(position, places - 1)];
    }

    /// Whether the place for the slot that comes back next has been passed.
    [[nodiscard]] bool hasPlaceAfter(Index released) const noexcept {
        constexpr auto behind = static_cast<Index>((places - depth) * Positions::one);
        return static_cast<Distance>(arrived_ - static_cast<Index>(released - behind)) > 0;
    }

    [[nodiscard]] bool hasArrived(Index position) const noexcept {
        const Turn turn = turnAt(position).load(std::memory_order_relaxed);  // own variable
        // Relaxed: passFront() loads the mark again.
        return (turn & taken) != 0 ||
               isFilledFor(slots_[slotOf(turn)].mark.load(std::memory_order_relaxed), position);
    }

    /// Slots in use while `released` was what it is said to have been.
    std::size_t countUsed(Index& released) const noexcept {
        for (;;) {
            released = released_.load(std::memory_order_acquire);  // E2 reuse
            // E4 order: the next look at `released_` is no older than the one of these claims.
            const Index admitted = admission_.end();
            // Otherwise messages have passed through, which were not all there at once. Relaxed:
            // the same value has told all that it can tell.
            if (released_.load(std::memory_order_relaxed) == released) {
                return Positions::distance(released, admitted);
            }
        }
    }

    /// Slots in use below `position`, by the copy of `released` if that leaves room for `count`,
    /// else by itself.
    std::size_t usedBefore(Index position, std::size_t limit, std::size_t count) noexcept {
        const std::size_t used = Positions::distance(releasedCopy_.load(std::memory_order_acquire),
                                                     position);  // E2, second step
        if (used < limit && count <= limit - used) {
            return used;
        }
        const Index released = released_.load(std::memory_order_acquire);  // E2 reuse
        // An older value may overwrite a newer one here: the next publisher just looks again.
        releasedCopy_.store(released, std::memory_order_release);  // E2, second step
        return Positions::distance(released, position);
    }

    /// Written from the front to the back, so that a consumer that polls the mark does not take
    /// lines away that are only half written.
    struct MarkedSlot {
        Envelope envelope;
        Atomic<Mark> mark{0};
    };

    // Written by publishers.
    alignas(line) alignas(Atomic<Index>) AdmissionFor<Traits, Publishers> admission_{first};
    Atomic<Index> releasedCopy_{first};

    // Written by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> released_{first};

    // The consumer's own, on a line that no publisher's look at `released_` takes away.
    alignas(line) Index arrived_{first};

    alignas(line) alignas(Atomic<Turn>) std::array<Atomic<Turn>, places> turns_{};

    alignas(line) alignas(MarkedSlot) std::array<MarkedSlot, depth> slots_;
};

}  // namespace sluice::detail
