#pragma once

#include <sluice/base/ring_positions.hpp>
#include <sluice/bus/detail/slot_list.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

/// Lets messages in while there is room for their priority, hands each a slot of its own, and tells
/// the consumer which slots have been filled, in the order in which they were let in.
///
/// Slots come back in another order than they went out, since urgent messages overtake. So each
/// place of the ring carries the number of a slot, in turn as a free one from the consumer to the
/// publisher that claims the place, and as a filled one back: the claim with the number n is for
/// the slot that lies at n, and the release with the number m puts its slot at m + Depth.
///
/// A message of high priority is announced by a count as well. If the consumer knows of one and a
/// publisher that was stopped in the middle bars the way to it, the consumer takes it out of turn.
/// While a publisher of high priority is stopped between the two, the consumer looks again and
/// again.
///
/// Who may call what: claim, fill and refreshUsed by publishers; drain, takeUrgent, isUrgent and
/// release by the consumer; the rest by anybody.
///
/// Progress: publishing is lock-free: a failed compare-exchange means that another claim got
/// through. A publisher that is stopped between claim and fill delays what was let in after it, but
/// for high priority; and when the ring has come round to its place, all other publishers.
/// Consuming is wait-free.
///
/// Invariants, on unbounded positions: released <= arrived <= admitted <= released + Depth but for
/// what was taken out of turn, which may be released before it has arrived; releasedCopy <=
/// released. The word at n belongs to the consumer from the arrival of n - places until it is
/// written as free for n, to the publisher with the claim n from then on until it is written as
/// filled, and to the consumer again until n has arrived.
///
/// Edges: E1 publish: slot filled -> word release .. word acquire -> slot read. E2 reuse: slot last
/// used and word written as free -> released release .. released acquire -> [releasedCopy release
/// .. releasedCopy acquire ->] word read, slot written. E3 close: the closed mark is part of
/// `admitted`. E4 order: claim release .. acquire next claim: who sees a claim sees as much of
/// `released` as its publisher did. E5 urgent: word written -> next claim release .. acquire in
/// takeUrgent -> word read.
///
/// Origin: the words in turn follow D. Vyukov's bounded queue; that they carry free slots one way
/// and filled ones the other is new here.
///
/// Tests: tests/unit/bus/admission_test.cpp, priority_test.cpp, tests/model/bus_model_test.cpp.
template <std::size_t Depth, class Traits>
class ArrivalRing {
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = sluice::RingPositions<Index>;
    using Distance = std::make_signed_t<Index>;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    using Slot = SlotNumber<Depth>;

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
        for (std::size_t i = 0; i < places; ++i) {
            // The places beyond Depth are free as well, though there is no slot for them yet.
            // Relaxed: not shared yet.
            wordAt(after(first, i))
                .store(freeWord(static_cast<Slot>(i < Depth ? i : 0)), std::memory_order_relaxed);
        }
    }

    // ---- Publishers

    /// Admits as many messages, at most `count`, as the limit leaves room for. Each must be filled.
    Claim claim(std::size_t limit, std::size_t count = 1) noexcept {
        Index position = admitted_.load(std::memory_order_acquire);  // E4 order
        for (;;) {
            if (Positions::isMarked(position)) {
                return {Answer::closed, 0, 0, 0};
            }
            const std::size_t used = usedBefore(position, limit, count);
            if (used > Depth) {
                // The releases have passed this position: it is an old one.
                position = admitted_.load(std::memory_order_acquire);  // E4 order
                continue;
            }
            if (used >= limit) {
                return {Answer::noRoom, 0, 0, used};
            }
            const std::size_t admitted = std::min(count, limit - used);
            if (admitted_.compare_exchange_weak(position, after(position, admitted),
                                                std::memory_order_release,
                                                std::memory_order_acquire)) {  // E4 order
                return {Answer::admitted, position, admitted, used};
            }
        }
    }

    /// The slot of the claim's place `i`.
    [[nodiscard]] Slot slot(const Claim& claim, std::size_t i) const noexcept {
        // Relaxed: E2 has made it visible.
        return slotOf(wordAt(after(claim.position, i)).load(std::memory_order_relaxed));
    }

    /// A slot that will be claimed soon, as a hint: to ask for its line ahead of time.
    [[nodiscard]] Slot soonClaimed(const Claim& claim) const noexcept {
        return slot(claim, lookAhead);
    }

    /// The slot of the claim's place `i` is ready.
    void fill(const Claim& claim, std::size_t i, Slot slot, Priority priority) noexcept {
        if (priority == Priority::high) {
            // Announced before the word, or the announcement of another message could stand in for
            // this one's. Relaxed: a hint where to look; the word carries the message, and this.
            urgent_.fetch_add(1, std::memory_order_relaxed);
        }
        wordAt(after(claim.position, i))
            .store(filledWord(slot, priority, after(claim.position, i)),
                   std::memory_order_release);  // E1 publish
    }

    /// How many messages were let in before the one at the claim's place `i`.
    static std::uint64_t number(const Claim& claim, std::size_t i) noexcept {
        return static_cast<Index>(after(claim.position, i) - first) / Positions::one;
    }

    /// Slots in use; makes the `used` of later claims exact again.
    std::size_t refreshUsed() noexcept {
        const Index released = released_.load(std::memory_order_acquire);  // E2 reuse
        releasedCopy_.store(released, std::memory_order_release);          // E2, second step
        return distanceToAdmitted(released);
    }

    // ---- The consumer

    /// Calls arrived(slot, priority) for what has arrived, in order, at most `max` times.
    template <class Arrived>
    void drain(Arrived&& arrived, std::size_t max) {
        for (; max != 0; --max) {
            const Word word = wordAt(arrived_).load(std::memory_order_acquire);  // E1 publish
            if (!isFilled(word, arrived_)) {
                break;
            }
            arrived_ = Positions::next(arrived_);
            if ((word & taken) == 0) {
                noteTaken(priorityOf(word));
                arrived(slotOf(word), priorityOf(word));
            }
        }
    }

    /// Whether a message of high priority has been announced that has not been taken.
    [[nodiscard]] bool isUrgent() const noexcept {
        const auto announced = urgent_.load(std::memory_order_relaxed);  // relaxed: see fill()
        return static_cast<Distance>(announced - urgentTaken_) > 0;
    }

    /// Calls arrived(slot, priority) for messages of high priority, whether or not those before
    /// them have arrived.
    template <class Arrived>
    void takeUrgent(Arrived&& arrived) {
        // E5 urgent: who sees a claim sees the words of all claims that its publisher had made
        // before, or a message would overtake its own predecessor.
        const Index end = Positions::unmarked(admitted_.load(std::memory_order_acquire));
        for (Index position = arrived_; position != end; position = Positions::next(position)) {
            const Word word = wordAt(position).load(std::memory_order_acquire);  // E1 publish
            if (isFilled(word, position) && (word & taken) == 0 &&
                priorityOf(word) == Priority::high) {
                // Relaxed: the word is the consumer's own now.
                wordAt(position).store(static_cast<Word>(word | taken), std::memory_order_relaxed);
                noteTaken(Priority::high);
                arrived(slotOf(word), Priority::high);
            }
        }
    }

    /// Gives a slot back. False when that must wait, as the publisher that is to tell about the
    /// place has been stopped.
    bool release(Slot slot) noexcept {
        const Index position = released_.load(std::memory_order_relaxed);  // own variable
        constexpr auto ahead = static_cast<Index>(Depth * Positions::one);
        constexpr auto lap = static_cast<Index>(places * Positions::one);
        const auto place = static_cast<Index>(position + ahead);
        if (static_cast<Distance>(arrived_ - static_cast<Index>(place - lap)) <= 0) {
            return false;
        }
        wordAt(place).store(freeWord(slot), std::memory_order_relaxed);  // E2 by what follows
        released_.store(Positions::next(position), std::memory_order_release);  // E2 reuse
        return true;
    }

    /// Whether drain() would find something.
    [[nodiscard]] bool hasArrival() const noexcept {
        return isFilled(wordAt(arrived_).load(std::memory_order_relaxed), arrived_) || isUrgent();
    }

    // ---- Anybody

    void close() noexcept { admitted_.fetch_or(Positions::mark, std::memory_order_release); }  // E3

    [[nodiscard]] bool isClosed() const noexcept {
        return Positions::isMarked(admitted_.load(std::memory_order_acquire));
    }

    /// Whether it is closed and everything it let in has been released: for good.
    [[nodiscard]] bool isDrained() const noexcept {
        const Index admitted = admitted_.load(std::memory_order_acquire);
        return Positions::isMarked(admitted) &&
               Positions::unmarked(admitted) == released_.load(std::memory_order_acquire);
    }

    /// Slots in use at some moment during the call, or nearly so: never more than Depth.
    [[nodiscard]] std::size_t used() const noexcept {
        // Released first: an `admitted` that moves on in between can only make the difference
        // larger, hence the bound.
        return distanceToAdmitted(released_.load(std::memory_order_acquire));
    }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index first = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(first), "firstPosition of the traits must be even");
    static constexpr std::size_t places = roundUpToPowerOfTwo(Depth);
    static_assert(2 * places <= Positions::maxCapacity,
                  "the depth of a bus must be at most an eighth of its Index type's range");
    static_assert(Depth <= (std::size_t{1} << 27U), "the depth of a bus must be at most 2^27");

    /// Measured: four is worth a twelfth of a message's time between two cores; 16 and 32 less.
    static constexpr std::size_t lookAhead = 4;

    // A word is the number of a slot and, below it: filled or free, taken out of turn, the
    // priority, and whether the lap of the position is odd. By the lap the consumer tells a place
    // that has been filled from one that it has seen, but whose slot has not come back. Small
    // words, for small memories, let more publishers meet in one line.
    using Word = std::conditional_t<Depth <= 0x100, std::uint16_t, std::uint32_t>;
    static constexpr std::uint32_t filled = 1;
    static constexpr std::uint32_t taken = 2;
    static constexpr std::uint32_t oddLap = 4;
    static constexpr unsigned priorityShift = 3;
    static constexpr unsigned slotShift = 5;

    static constexpr std::uint32_t lapOf(Index position) noexcept {
        return (Positions::distance(0, position) / places) % 2 == 0 ? 0 : oddLap;
    }
    static constexpr Word freeWord(Slot slot) noexcept {
        return static_cast<Word>(std::uint32_t{slot} << slotShift);
    }
    static constexpr Word filledWord(Slot slot, Priority priority, Index position) noexcept {
        return static_cast<Word>(std::uint32_t{slot} << slotShift |
                                 static_cast<std::uint32_t>(priority) << priorityShift |
                                 lapOf(position) | filled);
    }
    static constexpr bool isFilled(Word word, Index position) noexcept {
        return (word & (filled | oddLap)) == (filled | lapOf(position));
    }
    static constexpr Slot slotOf(Word word) noexcept {
        return static_cast<Slot>(word >> slotShift);
    }
    static constexpr Priority priorityOf(Word word) noexcept {
        return static_cast<Priority>(word >> priorityShift & 3U);
    }

    static constexpr Index after(Index position, std::size_t count) noexcept {
        return static_cast<Index>(position + static_cast<Index>(count * Positions::one));
    }

    Atomic<Word>& wordAt(Index position) noexcept {
        return words_[Positions::slot(position, places - 1)];
    }
    const Atomic<Word>& wordAt(Index position) const noexcept {
        return words_[Positions::slot(position, places - 1)];
    }

    void noteTaken(Priority priority) noexcept {
        urgentTaken_ = static_cast<Index>(urgentTaken_ + (priority == Priority::high ? 1 : 0));
    }

    std::size_t distanceToAdmitted(Index released) const noexcept {
        // Relaxed: what it could tell of handlers, `released` has told.
        const Index admitted = Positions::unmarked(admitted_.load(std::memory_order_relaxed));
        return std::min(Positions::distance(released, admitted), Depth);
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

    // Written by publishers.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> admitted_{first};
    Atomic<Index> releasedCopy_{first};

    // Written by publishers of high priority.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> urgent_{0};

    // Written by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> released_{first};
    Index arrived_{first};
    Index urgentTaken_{0};

    alignas(line) alignas(Atomic<Word>) std::array<Atomic<Word>, places> words_;
};

}  // namespace sluice::detail
