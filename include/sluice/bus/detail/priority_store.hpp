#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/arrival_ring.hpp>
#include <sluice/bus/detail/gates.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/detail/lookout.hpp>
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
    using Lookout = detail::Lookout<Gates, Traits>;
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
        return gates_.at(
            gate, [&](auto& ring) __attribute__((always_inline)) {
                return publishThrough(ring, priority, count, fill);
            });
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
            sortArrivals([](Envelope&) noexcept {});
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

    /// Begins a harvest, which may take several calls of serve().
    void begin() noexcept {
        const Turn turn(lock_);
        lookout_.begin(knowsMessage());
    }

    /// Hands messages, at most `max`, to handle(envelope), each when it is its turn, and gives its
    /// slot back. Returns how many: fewer than `max` when there are no more. It looks for arrivals
    /// when it runs out of what it knows, until the harvest is at its end. Besides it looks
    /// whenever what has arrived matters for the order, or is to be found at once. Calls
    /// arrived(envelope) for what it finds, if fill() has asked for it.
    template <class Arrived, class Handle>
    std::size_t serve(const Arrived& arrived, const Handle& handle, std::size_t max,
                      bool isToFindAll) {
        const FindRest<Arrived> rest{*this, arrived, isToFindAll};
        sortIfOvertaken(arrived);
        std::size_t count = 0;
        for (Slot slot = 0; count < max && choose(slot, arrived); ++count) {
            const Served served{*this, slot};
            handle(gates_[slot]);
        }
        return count;
    }

    /// The most messages that this harvest has seen at a gate at once.
    [[nodiscard]] std::size_t mostUsed() noexcept {
        const Turn turn(lock_);
        return lookout_.mostUsed();
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
    [[gnu::always_inline]] Published publishThrough(Ring& ring, Priority priority,
                                                    std::size_t count, Fill& fill) {
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
              slot_(ring.slot(claim, 0)) {
            ring.askForLines(claim, slot_);
        }
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

        [[gnu::always_inline]] void next(bool isToBeSeen) noexcept {
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
        [[gnu::always_inline]] ~Served() {
            const Turn turn(store.lock_);
            if constexpr (Traits::statistics) {
                // The accounts are to know how many there were before the first one goes.
                (void)store.lookout_.hasCounted();
            }
            store.giveBack(slot);
        }
    };

    /// Whether a handler returned or threw.
    template <class Arrived>
    struct FindRest {
        PriorityStore& store;
        const Arrived& arrived;
        bool isDue;
        ~FindRest() {
            if (isDue) {
                const Turn turn(store.lock_);
                if (!store.lookout_.isAtEnd()) {
                    store.sortArrivals(arrived);
                }
            }
        }
    };

    [[nodiscard]] bool knowsMessage() const noexcept {
        return std::any_of(lists_.begin(), lists_.end(),
                           [](const List& list) { return !list.isEmpty(); });
    }

    /// What it knows may be overtaken by arrivals that nobody announces.
    template <class Arrived>
    void sortIfOvertaken(const Arrived& arrived) {
        const Turn turn(lock_);
        if (!held_.isEmpty() || !listOf(Priority::low).isEmpty() ||
            (Traits::service != Service::strict && knowsMessage())) {
            sortArrivals(arrived);
        }
    }

    /// Whose turn it is, by what it knows, else by what has arrived.
    template <class Arrived>
    [[gnu::always_inline]] bool choose(Slot& slot, const Arrived& arrived) {
        const Turn turn(lock_);
        if (__builtin_expect(urgent_.isPending(), 0)) {
            fetchUrgent(arrived);
        }
        if (service_.isRoundOver(lists_) && knowsMessage()) {
            sortArrivals(arrived);  // those of the others that have come in this round
        }
        Priority priority = Priority::medium;
        bool found = service_.pick(lists_, priority);
        if (!found) {
            if (!lookout_.hasCounted()) {
                return false;
            }
            if (takeFront(slot, arrived)) {
                return true;
            }
            sortArrivals(arrived);
            found = service_.pick(lists_, priority);
        } else if (priority == Priority::low && ++lowSinceLook_ == patience) {
            lowSinceLook_ = 0;
            sortArrivals(arrived);
            found = service_.pick(lists_, priority);
        }
        if (found) {
            service_.serve(priority);
            slot = listOf(priority).popFront(links_);
        }
        return found;
    }

    /// Takes the front of the arrivals, if nothing behind it may overtake it unannounced.
    template <class Arrived>
    [[gnu::always_inline]] bool takeFront(Slot& slot, const Arrived& arrived) {
        if constexpr (Traits::service != Service::strict) {
            return false;
        }
        const std::size_t gate = lookout_.gate();
        return gates_.at(
            gate, [&](auto& ring) __attribute__((always_inline)) {
                if (!ring.isFrontAtLeast(Priority::medium)) {
                    return false;
                }
                lookout_.notePassed(gate, 1);
                (void)ring.passFront([&](auto front, Arrival arrival)
                                         __attribute__((always_inline)) {
                                             slot = Gates::numberOf(gate, front);
                                             note(slot, arrival, arrived);
                                         });
                return true;
            });
    }

    template <class Arrived>
    [[gnu::noinline]] void fetchUrgent(const Arrived& arrived) {
        sortArrivals(arrived);
        if (urgent_.isPending()) {
            // In a lane no publisher bars the way to another one's message.
            gates_.shared().takeUrgent(sorter(0, arrived));
        }
    }

    /// Of what has been found.
    template <class Arrived>
    [[gnu::always_inline]] void note(Slot slot, Arrival arrival, const Arrived& arrived) {
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
    [[gnu::noinline]] void sortArrivals(const Arrived& arrived) {
        for (std::size_t gate = 0; gate != gates_.count(); ++gate) {
            gates_.at(gate, [&](auto& ring) { sortGate(ring, sorter(gate, arrived)); });
        }
        lookout_.noteAllPassed();
        giveBackHeld();
    }

    template <class Ring, class Sorter>
    void sortGate(Ring& ring, const Sorter& sorter) {
        const auto end = ring.end();
        lookout_.noteUsed(ring.usedUpTo(end));
        for (bool isMore = true; isMore;) {
            const std::size_t most = std::min(ring.notPassed(end), Lookout::batch);
            const std::size_t count = most == 0 ? 0 : ring.countArrived(most);
            for (std::size_t i = 0; i < count; ++i) {
                (void)ring.passFront(sorter);
            }
            isMore = count != 0 && count == most;
        }
    }

    [[gnu::always_inline]] bool giveBackAtOnce(Slot slot) noexcept {
        return gates_.atSlot(
            slot, [](auto& ring, auto number)
                      __attribute__((always_inline)) { return ring.release(number); });
    }

    void giveBackHeld() noexcept {
        while (!held_.isEmpty() && giveBackAtOnce(held_.front())) {
            held_.popFront(links_);
        }
    }

    /// Passes what was taken out of turn at the front.
    void passTaken() noexcept { lookout_.notePassed(0, gates_.shared().passTaken()); }

    [[gnu::always_inline]] void giveBack(Slot slot) noexcept {
        // Those of lanes can always go back: so what is held is all of one gate, in order.
        const bool mustWait = !held_.isEmpty() && slot < Traits::depth;
        if (__builtin_expect(mustWait || !giveBackAtOnce(slot), 0)) {
            hold(slot);
        }
    }

    [[gnu::noinline]] void hold(Slot slot) noexcept {
        held_.pushBack(links_, slot);
        // Its own place may be the one that they waited for, with those behind it.
        passTaken();
        giveBackHeld();
    }

    List& listOf(Priority priority) noexcept { return lists_[place(priority)]; }

    Gates gates_;
    Urgent urgent_;

    // The consumer's side.
    alignas(Traits::cacheLineSize) Lock lock_;
    ServiceFor<Traits> service_;
    std::array<List, priorityCount> lists_;
    unsigned lowSinceLook_ = 0;
    Lookout lookout_{gates_};
    List held_;  ///< slots that could not be given back yet
    SlotLinks<Gates::slots> links_;
};

}  // namespace sluice::detail
