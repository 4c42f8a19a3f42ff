#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/arrival_ring.hpp>
#include <sluice/bus/detail/gates.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/detail/published.hpp>
#include <sluice/bus/detail/service.hpp>
#include <sluice/bus/detail/slot_list.hpp>
#include <sluice/bus/detail/urgent_count.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice::detail {

/// Messages that are let in through one ring and sorted by priority on the consumer's side.
///
/// A message stays in the slot that it was built in. What arrives is sorted into a list for each
/// priority, which publishers never see; so they have one order to agree on and one
/// compare-exchange to pay, and all priorities share the slots. The consumer looks for arrivals
/// when it runs out of what it knows, when urgent ones are announced, now and then before it serves
/// low priority, and at the end of a round of the weighted service.
///
/// Where publishers may drop messages, a spin lock guards the consumer's side. It is held while
/// arrivals are sorted and a slot is chosen or given back, never while a handler runs.
template <class Envelope, class Traits>
class PriorityStore {
    using Gates = detail::Gates<Envelope, Traits>;
    using Slot = typename Gates::Slot;
    using List = SlotList<Gates::slots>;
    using Urgent = UrgentCount<Traits, Gates::slots>;

public:
    /// In all gates.
    static constexpr std::size_t slots = Gates::slots;
    /// How deep the bus is at a gate: 0 is the one for all publishers.
    static constexpr std::size_t depthOf(std::size_t gate) noexcept { return Gates::depthOf(gate); }

    // ---- Publishers

    std::size_t takeLane() noexcept { return gates_.takeLane(); }
    void returnLane(std::size_t gate) noexcept { gates_.returnLane(gate); }

    /// Lets in as many of `count` messages as there is room for, of high priority one at most, and
    /// has fill(envelope) build each, which returns whether the consumer is to see it as soon as it
    /// is found.
    template <class Fill>
    Published publish(std::size_t gate, Priority priority, std::size_t count, Fill&& fill) {
        return gates_.at(gate,
                         [&](auto& ring) { return publishThrough(ring, priority, count, fill); });
    }

    /// Takes the oldest message of this priority for which isMeant(envelope) holds out, and hands
    /// it to drop(envelope). False when there is none that could go.
    template <class IsMeant, class Drop>
    bool dropOldest(Priority priority, IsMeant&& isMeant, Drop&& drop) {
        Slot slot = 0;
        {
            // On one processor this may be an interrupt of whoever has the lock.
            const Turn turn(lock_, !Traits::Platform::hasThreads);
            if (!turn.isMine()) {
                return false;
            }
            Looks looks;
            sortArrivals([](Envelope&) noexcept {}, looks);
            // A slot that others keep above the limit, or that cannot come back, makes no room.
            if (!held_.isEmpty() || !gates_.shared().canRelease() ||
                gates_.shared().used() > limitOf<Traits>(priority)) {
                return false;
            }
            if (!listOf(priority).takeFirst(
                    links_, [&](Slot each) { return isMeant(gates_[each]); }, slot)) {
                return false;
            }
        }
        drop(gates_[slot]);
        const Turn turn(lock_);
        giveBack(slot);
        return true;
    }

    /// Messages that came by this gate; makes later `usedAtMost` exact again.
    std::size_t refreshUsed(std::size_t gate) noexcept {
        return gates_.at(gate, [](auto& ring) { return ring.refreshUsed(); });
    }

    // ---- The consumer

    /// Hands messages, at most `max`, to handle(envelope), each when it is its turn, and gives its
    /// slot back. Returns how many: fewer than `max` when there are no more. It looks for arrivals
    /// when it runs out of what it knows, until it has come to the end of all gates one after the
    /// other: who looks there again and again follows the publishers at their heels, and takes the
    /// lines away that they are writing. Besides it looks whenever what has arrived matters for the
    /// order, or is to be found at once. Calls arrived(envelope) for what it finds, if fill() has
    /// asked for it.
    template <class Arrived, class Handle>
    std::size_t serve(const Arrived& arrived, const Handle& handle, std::size_t max,
                      bool isToFindAll, Looks& looks) {
        const FindRest<Arrived> rest{*this, arrived, looks, isToFindAll};
        sortIfOvertaken(arrived, looks);
        std::size_t count = 0;
        for (Slot slot = 0; count < max && choose(slot, arrived, looks); ++count) {
            const Served served{*this, slot, looks};
            handle(gates_[slot]);
        }
        return count;
    }

    /// Whether serve() would find a message.
    [[nodiscard]] bool hasMessage() noexcept {
        const Turn turn(lock_);
        passTaken();
        return urgent_.isPending() || knowsMessage() ||
               !gates_.all([](const auto& ring) { return !ring.hasArrival(); });
    }

    // ---- Anybody

    void close() noexcept { gates_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return gates_.shared().isClosed(); }
    [[nodiscard]] bool isDrained() const noexcept {
        return gates_.all([](const auto& ring) { return ring.isDrained(); });
    }
    /// Messages that came by this gate.
    [[nodiscard]] std::size_t used(std::size_t gate) const noexcept {
        return gates_.at(gate, [](const auto& ring) { return ring.used(); });
    }
    [[nodiscard]] std::size_t gateCount() const noexcept { return gates_.count(); }

private:
    /// So many messages of low priority are served before the consumer looks whether one of medium
    /// priority has come. Each look may take the line away that a publisher is writing.
    static constexpr unsigned patience = 16;

    /// Arrivals that are counted at a time, so that their slots are still near when they are
    /// passed.
    static constexpr std::size_t batch = std::min<std::size_t>(
        {64, Traits::depth, Traits::lanes == 0 ? Traits::depth : Traits::laneDepth});

    static constexpr bool isShared = canDrop<Traits>();
    using Lock = BasicSpinLock<typename Traits::Platform>;

    /// Locks where publishers come to the consumer's side.
    class Turn {
    public:
        explicit Turn(Lock& lock, bool isOnlyToTry = false) noexcept : lock_(lock) {
            if constexpr (isShared) {
                if (isOnlyToTry) {
                    isMine_ = lock_.try_lock();
                } else {
                    lock_.lock();
                }
            }
        }
        ~Turn() {
            if (isShared && isMine_) {
                lock_.unlock();
            }
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        [[nodiscard]] bool isMine() const noexcept { return isMine_; }

    private:
        Lock& lock_;
        bool isMine_ = true;
    };

    template <class Ring, class Fill>
    Published publishThrough(Ring& ring, Priority priority, std::size_t count, Fill& fill) {
        // What is taken out of turn keeps its order from claim to claim, not within one.
        const std::size_t most = priority == Priority::high ? 1 : count;
        const typename Ring::Claim claim = ring.claim(limitOf<Traits>(priority, Ring::depth), most);
        if (claim.answer != Ring::Answer::admitted) {
            return {claim.answer == Ring::Answer::closed ? PublishResult::closed
                    : claim.used >= limitOf<Traits>(Priority::high, Ring::depth)
                        ? PublishResult::full
                        : PublishResult::refused,
                    0, claim.used};
        }
        ring.askForSoonClaimed(claim);
        for (Filling<Ring> filling(ring, urgent_, claim, priority); filling.isOpen();) {
            filling.next(fill(filling.envelope()));
        }
        return {PublishResult::ok, claim.count, claim.used + claim.count};
    }

    /// Claimed slots on their way to the consumer, who hears of each of them whatever happens to
    /// the constructors of their messages.
    template <class Ring>
    class Filling {
    public:
        Filling(Ring& ring, Urgent& urgent, const typename Ring::Claim& claim,
                Priority priority) noexcept
            : ring_(ring),
              urgent_(urgent),
              claim_(claim),
              priority_(priority),
              slot_(ring.slot(claim, 0)) {}
        Filling(const Filling&) = delete;
        Filling& operator=(const Filling&) = delete;
        ~Filling() {
            while (isOpen()) {
                envelope().markAsNothing();
                next(false);
            }
        }

        [[nodiscard]] bool isOpen() const noexcept { return done_ != claim_.count; }
        [[nodiscard]] Envelope& envelope() const noexcept { return ring_[slot_]; }

        void next(bool isToBeSeen) noexcept {
            if constexpr (Traits::ids) {
                envelope().id = Ring::number(claim_, done_);
            }
            if (priority_ == Priority::high) {
                urgent_.announce();
            }
            ring_.fill(claim_, done_, slot_, {priority_, isToBeSeen});
            if (++done_ != claim_.count) {
                slot_ = ring_.slot(claim_, done_);
            }
        }

    private:
        Ring& ring_;
        Urgent& urgent_;
        const typename Ring::Claim& claim_;
        Priority priority_;
        typename Ring::Slot slot_;
        std::size_t done_ = 0;
    };

    struct Served {
        PriorityStore& store;
        Slot slot;
        Looks& looks;
        ~Served() {
            const Turn turn(store.lock_);
            store.lookOn(looks);
            store.giveBack(slot);
        }
    };

    /// Whether a handler returned or threw.
    template <class Arrived>
    struct FindRest {
        PriorityStore& store;
        const Arrived& arrived;
        Looks& looks;
        bool isDue;
        ~FindRest() {
            if (isDue && (store.counted_ != 0 || looks.ends < store.gates_.count())) {
                const Turn turn(store.lock_);
                store.sortArrivals(arrived, looks);
            }
        }
    };

    [[nodiscard]] bool knowsMessage() const noexcept {
        return std::any_of(lists_.begin(), lists_.end(),
                           [](const List& list) { return !list.isEmpty(); });
    }

    /// What it knows may be overtaken by arrivals that nobody announces.
    template <class Arrived>
    void sortIfOvertaken(const Arrived& arrived, Looks& looks) {
        const Turn turn(lock_);
        noteLeft(looks);
        if (!held_.isEmpty() || !listOf(Priority::low).isEmpty() ||
            (Traits::service != Service::strict && knowsMessage())) {
            sortArrivals(arrived, looks);
        }
    }

    /// Whose turn it is, by what it knows, else by what has arrived.
    template <class Arrived>
    [[gnu::always_inline]] bool choose(Slot& slot, const Arrived& arrived, Looks& looks) {
        const Turn turn(lock_);
        if (__builtin_expect(urgent_.isPending(), 0)) {
            fetchUrgent(arrived, looks);
        }
        if (service_.isRoundOver(lists_) && knowsMessage()) {
            sortArrivals(arrived, looks);  // those of the others that have come in this round
        }
        Priority priority = Priority::medium;
        bool found = service_.pick(lists_, priority);
        if (!found) {
            if (!hasCounted(looks)) {
                return false;
            }
            if (takeFront(slot, arrived)) {
                return true;
            }
            sortArrivals(arrived, looks);
            found = service_.pick(lists_, priority);
        } else if (priority == Priority::low && ++lowSinceLook_ == patience) {
            lowSinceLook_ = 0;
            sortArrivals(arrived, looks);
            found = service_.pick(lists_, priority);
        }
        if (found) {
            service_.serve(priority);
            slot = listOf(priority).popFront(links_);
        }
        return found;
    }

    /// Whether there are arrivals at the gate that it is at. It goes from gate to gate, and looks
    /// for one first: the next slot may be in the hands of a publisher, and to ask for its line
    /// takes as long as the message took to come.
    bool hasCounted(Looks& looks) noexcept {
        while (counted_ == 0 && looks.ends < gates_.count()) {
            if (isToMoveOn_) {
                gate_ = gate_ + 1 < gates_.count() ? gate_ + 1 : 0;
            }
            counted_ = gates_.at(gate_, [&](auto& ring) {
                const std::size_t count = ring.countArrived(sight_);
                noteUsed(ring, count, looks);
                return count;
            });
            const bool wasProbe = sight_ == 1;
            const bool isEnd = counted_ != sight_;
            looks.ends = isEnd ? looks.ends + 1 : 0;
            isToMoveOn_ = isEnd || !wasProbe;
            sight_ = isEnd ? 1 : batch;
        }
        return counted_ != 0;
    }

    /// The accounts are to know how many were there before the first one goes.
    void lookOn(Looks& looks) noexcept {
        if constexpr (Traits::statistics) {
            (void)hasCounted(looks);
        }
    }

    /// Takes the front of the arrivals, if nothing behind it may overtake it unannounced.
    template <class Arrived>
    bool takeFront(Slot& slot, const Arrived& arrived) {
        if constexpr (Traits::service != Service::strict) {
            return false;
        }
        return gates_.at(gate_, [&](auto& ring) {
            if (!ring.isFrontAtLeast(Priority::medium)) {
                return false;
            }
            --counted_;
            (void)ring.passFront([&](auto front, Arrival arrival) {
                slot = Gates::numberOf(gate_, front);
                note(slot, arrival, arrived);
            });
            return true;
        });
    }

    template <class Arrived>
    [[gnu::noinline]] void fetchUrgent(const Arrived& arrived, Looks& looks) {
        sortArrivals(arrived, looks);
        if (urgent_.isPending()) {
            // In a lane no publisher bars the way to another one's message.
            gates_.shared().takeUrgent(sorter(0, arrived));
        }
    }

    /// Of what has been found.
    template <class Arrived>
    void note(Slot slot, Arrival arrival, const Arrived& arrived) {
        if (arrival.priority == Priority::high) {
            urgent_.noteFound();
        }
        if (arrival.isToBeSeen) {
            arrived(gates_[slot]);
        }
    }

    template <class Arrived>
    auto sorter(std::size_t gate, const Arrived& arrived) noexcept {
        return [this, gate, &arrived](auto number, Arrival arrival) {
            const Slot slot = Gates::numberOf(gate, number);
            note(slot, arrival, arrived);
            listOf(arrival.priority).pushBack(links_, slot);
        };
    }

    template <class Arrived>
    void sortArrivals(const Arrived& arrived, Looks& looks) {
        for (std::size_t gate = 0; gate != gates_.count(); ++gate) {
            gates_.at(gate, [&](auto& ring) {
                sortGate(ring, sorter(gate, arrived));
                noteUsed(ring, 0, looks);
            });
        }
        counted_ = 0;
        giveBackHeld();
    }

    template <class Ring, class Sorter>
    void sortGate(Ring& ring, const Sorter& sorter) {
        bool isMore = true;
        for (std::size_t left = Ring::depth; isMore && left != 0;) {
            const std::size_t most = std::min(left, batch);
            const std::size_t count = ring.countArrived(most);
            for (std::size_t i = 0; i < count; ++i) {
                left -= ring.passFront(sorter) ? 1 : 0;
            }
            isMore = count == most;
        }
    }

    /// What the last harvest has left will be served without a look: before the first one goes the
    /// accounts are to know how many more have come since.
    void noteLeft(Looks& looks) const noexcept {
        if constexpr (Traits::statistics) {
            if (!looks.isBegun && (counted_ != 0 || knowsMessage())) {
                for (std::size_t gate = 0; gate != gates_.count(); ++gate) {
                    looks.used = std::max(looks.used, used(gate));
                }
            }
            looks.isBegun = true;
        }
    }

    /// After a look. When there is more than it could see, it asks for all, once in a harvest and
    /// gate: that takes a line away from publishers.
    template <class Ring>
    void noteUsed(const Ring& ring, std::size_t counted, Looks& looks) const noexcept {
        if constexpr (Traits::statistics) {
            std::size_t used = ring.usedByPassed() + counted;
            if (counted == batch && looks.backlogs < gates_.count()) {
                ++looks.backlogs;
                used = ring.used();
            }
            looks.used = std::max(looks.used, used);
        }
    }

    bool giveBackAtOnce(Slot slot) noexcept {
        return gates_.atSlot(slot, [](auto& ring, auto number) { return ring.release(number); });
    }

    void giveBackHeld() noexcept {
        while (!held_.isEmpty() && giveBackAtOnce(held_.front())) {
            held_.popFront(links_);
        }
    }

    /// Passes what was taken out of turn at the front.
    void passTaken() noexcept {
        const std::size_t passed = gates_.shared().passTaken();
        counted_ -= gate_ == 0 ? std::min(counted_, passed) : 0;
    }

    void giveBack(Slot slot) noexcept {
        // Those of lanes can always go back: so what is held is all of one gate, in order.
        const bool mustWait = !held_.isEmpty() && slot < Traits::depth;
        if (__builtin_expect(mustWait || !giveBackAtOnce(slot), 0)) {
            held_.pushBack(links_, slot);
            // Its own place may be the one that they waited for, with those behind it.
            passTaken();
            giveBackHeld();
        }
    }

    List& listOf(Priority priority) noexcept { return lists_[place(priority)]; }

    Gates gates_;
    Urgent urgent_;

    // The consumer's side.
    alignas(Traits::cacheLineSize) Lock lock_;
    ServiceFor<Traits> service_;
    std::array<List, priorityCount> lists_;
    unsigned lowSinceLook_ = 0;
    std::size_t counted_ = 0;  ///< arrivals at `gate_` that are known of and have not been passed
    std::size_t sight_ = 1;    ///< how many the next look is for
    std::size_t gate_ = 0;
    bool isToMoveOn_ = false;  ///< before the next look
    List held_;                ///< slots that could not be given back yet
    SlotLinks<Gates::slots> links_;
};

}  // namespace sluice::detail
