#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/arrival_ring.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/detail/published.hpp>
#include <sluice/bus/detail/service.hpp>
#include <sluice/bus/detail/slot_list.hpp>
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
/// when it runs out of what it knows, when urgent ones are announced, and now and then before it
/// serves low priority.
///
/// Where publishers may drop messages, a spin lock guards the consumer's side. It is held while
/// arrivals are sorted and a slot is chosen or given back, never while a handler runs.
template <class Envelope, class Traits>
class PriorityStore {
    static constexpr std::size_t depth = Traits::depth;
    using Ring = ArrivalRing<Envelope, Traits>;
    using Slot = typename Ring::Slot;
    using List = SlotList<depth>;

public:
    /// The most messages that are let in.
    static constexpr std::size_t capacity() noexcept { return limitOf<Traits>(Priority::high); }

    // ---- Publishers

    /// Lets in as many of `count` messages as there is room for, and has fill(envelope) build
    /// each, which returns whether the consumer is to see it as soon as it is found.
    template <class Fill>
    Published publish(Priority priority, std::size_t count, Fill&& fill) {
        const typename Ring::Claim claim = ring_.claim(limitOf<Traits>(priority), count);
        if (claim.answer != Ring::Answer::admitted) {
            return {claim.answer == Ring::Answer::closed ? PublishResult::closed
                    : claim.used >= capacity()           ? PublishResult::full
                                                         : PublishResult::refused,
                    0, claim.used};
        }
        ring_.askForSoonClaimed(claim);
        for (Filling filling(*this, claim, priority); filling.isOpen();) {
            filling.next(fill(filling.envelope()));
        }
        return {PublishResult::ok, claim.count, claim.used + claim.count};
    }

    /// Takes the oldest message of this priority for which isMeant(envelope) holds out, and hands
    /// it to drop(envelope). False when there is none that could go.
    template <class IsMeant, class Drop>
    bool dropOldest(Priority priority, IsMeant&& isMeant, Drop&& drop) {
        Slot slot = 0;
        if (isHeldByWhatThisInterrupts()) {
            return false;
        }
        {
            const Turn turn(lock_);
            sortArrivals([](Envelope&) noexcept {});
            // A slot that others keep above the limit, or that cannot come back, makes no room.
            if (!held_.isEmpty() || ring_.used() > limitOf<Traits>(priority)) {
                return false;
            }
            if (!listOf(priority).takeFirst(
                    links_, [&](Slot each) { return isMeant(ring_[each]); }, slot)) {
                return false;
            }
        }
        drop(ring_[slot]);
        giveBack(slot);
        return true;
    }

    /// Messages in the bus; makes later `usedAtMost` exact again.
    std::size_t refreshUsed() noexcept { return ring_.refreshUsed(); }

    // ---- The consumer

    /// Hands messages, at most `max`, to handle(envelope), each when it is its turn, and gives its
    /// slot back. Returns how many: fewer than `max` when there are no more. It looks for arrivals
    /// when it runs out of what it knows, if `mayLook`, which is false then: who looks again and
    /// again follows the publishers at their heels, and takes the lines away that they are writing.
    /// Besides it looks whenever what has arrived matters for the order, or is to be found at once.
    /// Calls arrived(envelope) for what it finds, if fill() has asked for it.
    template <class Arrived, class Handle>
    std::size_t serve(const Arrived& arrived, const Handle& handle, std::size_t max,
                      bool isToFindAll, bool& mayLook) {
        bool hasFoundAll = false;
        if (isToFindAll || isToLook(mayLook)) {
            hasFoundAll = look(arrived);
            mayLook = mayLook && !hasFoundAll;
        }
        std::size_t count = 0;
        for (Slot slot = 0; count < max; ++count) {
            if (!choose(slot, arrived)) {
                if (!mayLook) {
                    break;
                }
                mayLook = false;
                hasFoundAll = true;
                lookForAll(arrived);
                if (!choose(slot, arrived)) {
                    break;
                }
            }
            const Served served{*this, slot};
            handle(ring_[slot]);
        }
        if (!hasFoundAll && isToFindAll) {
            lookForAll(arrived);
        }
        return count;
    }

    /// Whether serve() would find a message.
    [[nodiscard]] bool hasMessage() noexcept {
        const Turn turn(lock_);
        return ring_.hasArrival() || knowsMessage();
    }

    // ---- Anybody

    void close() noexcept { ring_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return ring_.isClosed(); }
    [[nodiscard]] bool isDrained() const noexcept { return ring_.isDrained(); }
    [[nodiscard]] std::size_t used() const noexcept { return ring_.used(); }

private:
    /// So many messages of low priority are served before the consumer looks whether one of medium
    /// priority has come. Each look may take the line away that a publisher is writing.
    static constexpr unsigned patience = 16;

    static constexpr bool isShared = canDrop<Traits>();
    using Lock = BasicSpinLock<typename Traits::Platform>;

    /// Locks where publishers come to the consumer's side.
    class Turn {
    public:
        explicit Turn(Lock& lock) noexcept : lock_(lock) {
            if constexpr (isShared) {
                lock_.lock();
            }
        }
        ~Turn() {
            if constexpr (isShared) {
                lock_.unlock();
            }
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        Lock& lock_;
    };

    /// On one processor who finds the lock taken is an interrupt: it would wait for ever. And if
    /// it is free it stays so, since whatever takes it also gives it back before this goes on.
    [[nodiscard]] bool isHeldByWhatThisInterrupts() noexcept {
        if constexpr (!Traits::Platform::hasThreads) {
            if (!lock_.try_lock()) {
                return true;
            }
            lock_.unlock();
        }
        return false;
    }

    /// Claimed slots on their way to the consumer, who hears of each of them whatever happens to
    /// the constructors of their messages.
    class Filling {
    public:
        Filling(PriorityStore& store, const typename Ring::Claim& claim, Priority priority) noexcept
            : store_(store),
              claim_(claim),
              priority_(priority),
              slot_(store.ring_.slot(claim, 0)) {}
        Filling(const Filling&) = delete;
        Filling& operator=(const Filling&) = delete;
        ~Filling() {
            while (isOpen()) {
                envelope().markAsNothing();
                next(false);
            }
        }

        [[nodiscard]] bool isOpen() const noexcept { return done_ != claim_.count; }
        [[nodiscard]] Envelope& envelope() const noexcept { return store_.ring_[slot_]; }

        void next(bool isToBeSeen) noexcept {
            if constexpr (Traits::ids) {
                envelope().id = Ring::number(claim_, done_);
            }
            store_.ring_.fill(claim_, done_, slot_, {priority_, isToBeSeen});
            if (++done_ != claim_.count) {
                slot_ = store_.ring_.slot(claim_, done_);
            }
        }

    private:
        PriorityStore& store_;
        const typename Ring::Claim& claim_;
        Priority priority_;
        Slot slot_;
        std::size_t done_ = 0;
    };

    struct Served {
        PriorityStore& store;
        Slot slot;
        ~Served() { store.giveBack(slot); }
    };

    [[nodiscard]] bool knowsMessage() const noexcept {
        return std::any_of(lists_.begin(), lists_.end(),
                           [](const List& list) { return !list.isEmpty(); });
    }

    /// Whether to look before it serves. Not while what it knows can be overtaken only by announced
    /// messages: then the consumer works through that; a look would take the lines away that
    /// publishers are writing, and later all of them cross at once.
    [[nodiscard]] bool isToLook(bool mayLook) noexcept {
        const Turn turn(lock_);
        if (!knowsMessage()) {
            return mayLook;
        }
        return Traits::service != Service::strict || !held_.isEmpty() ||
               !listOf(Priority::low).isEmpty();
    }

    /// False when there is more to look for.
    template <class Arrived>
    bool look(const Arrived& arrived) {
        const Turn turn(lock_);
        if (!knowsMessage()) {
            // One is enough unless others might overtake it: the next slot may be in the hands of a
            // publisher, and to ask for its line takes as long as the message took to come.
            ring_.drain(sorter(arrived), 1);
            if (!knowsMessage()) {
                releaseHeld();
                return true;
            }
            if (listOf(Priority::low).isEmpty()) {
                return false;
            }
        }
        sortArrivals(arrived);
        return true;
    }

    template <class Arrived>
    void lookForAll(const Arrived& arrived) {
        const Turn turn(lock_);
        sortArrivals(arrived);
    }

    template <class Arrived>
    [[gnu::always_inline]] bool choose(Slot& slot, const Arrived& arrived) {
        const Turn turn(lock_);
        if (__builtin_expect(ring_.isUrgent(), 0)) {
            fetchUrgent(arrived);
        }
        Priority priority = Priority::medium;
        bool found = service_.pick(lists_, priority);
        if (found && priority == Priority::low && ++lowSinceLook_ == patience) {
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

    template <class Arrived>
    [[gnu::noinline]] void fetchUrgent(const Arrived& arrived) {
        sortArrivals(arrived);
        if (ring_.isUrgent()) {
            ring_.takeUrgent(sorter(arrived));
        }
    }

    template <class Arrived>
    auto sorter(const Arrived& arrived) noexcept {
        return [this, &arrived](Slot slot, Arrival arrival) {
            if (arrival.isToBeSeen) {
                arrived(ring_[slot]);
            }
            listOf(arrival.priority).pushBack(links_, slot);
        };
    }

    template <class Arrived>
    void sortArrivals(const Arrived& arrived) {
        ring_.drain(sorter(arrived), depth);
        releaseHeld();
    }

    void releaseHeld() noexcept {
        while (!held_.isEmpty() && ring_.release(held_.front())) {
            held_.popFront(links_);
        }
    }

    void giveBack(Slot slot) noexcept {
        const Turn turn(lock_);
        if (__builtin_expect(!held_.isEmpty() || !ring_.release(slot), 0)) {
            held_.pushBack(links_, slot);
        }
    }

    List& listOf(Priority priority) noexcept { return lists_[place(priority)]; }

    Ring ring_;

    // The consumer's side.
    alignas(Traits::cacheLineSize) Lock lock_;
    ServiceFor<Traits> service_;
    std::array<List, priorityCount> lists_;
    unsigned lowSinceLook_ = 0;
    List held_;  ///< slots that could not be given back yet
    SlotLinks<depth> links_;
};

}  // namespace sluice::detail
