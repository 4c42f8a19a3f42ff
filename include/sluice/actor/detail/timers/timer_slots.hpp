#pragma once

#include <sluice/actor/timer.hpp>
#include <sluice/base/single_writer_counter.hpp>
#include <sluice/base/slot_stack.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// The timers of one object, where any thread starts and cancels them and one thread, the owner,
/// lets them fire.
///
/// A slot is free, armed, firing (its handler runs, and it will be armed again) or cancelled. The
/// thread that starts or cancels a timer puts the slot on the list of news. The owner takes the
/// whole list and reads each slot. Only the owner frees a slot.
///
/// Progress: lock-free. A stopped thread delays nobody, except that a slot which it has claimed is
/// missing.
///
/// Invariants: a slot is on the list at most once: the bit `listed` is set while it is there. The
/// life of a slot grows when its timer ends, so an old Timer names nothing. An armed slot that is
/// not listed is known to the owner.
///
/// Edges: E1 told: entry, word and link written -> list pushed with release .. list taken with
/// acquire -> read by the owner. E2 taken: link read -> `listed` cleared with release .. acquired
/// by cancel() -> link written. E3 free: that of SlotStack.
///
/// Tests: tests/unit/actor/timer_test.cpp, tests/model/timer_slots_model_test.cpp.
template <class Platform, class Entry, std::size_t Count>
class TimerSlots {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    static_assert(Count < 0xffffffffU, "an object has less than 2^32 timers");

public:
    using Place = std::uint32_t;

    TimerSlots() = default;
    TimerSlots(const TimerSlots&) = delete;
    TimerSlots& operator=(const TimerSlots&) = delete;
    ~TimerSlots() {
        for (Slot& slot : slots_) {
            if ((slot.word.load(std::memory_order_relaxed) & stateMask) != vacant) {
                slot.entry.destroy();
            }
        }
    }

    // ---- Any thread

    /// Starts a timer. Empty if there is no free slot.
    template <class... Args>
    Timer arm(Args&&... args) {
        typename Free::Slot place{};
        if (!free_.tryTake(place)) {
            return {};
        }
        struct Claim {
            Free& stack;
            typename Free::Slot place;
            bool isOpen = true;
            ~Claim() {
                if (isOpen) {
                    stack.giveBack(place);
                }
            }
        } claim{free_, place};
        Slot& slot = slots_[place];
        slot.entry.construct(std::forward<Args>(args)...);
        claim.isOpen = false;
        // Relaxed, both: this thread has the slot, and E1 releases what it writes.
        const CounterWord life = slot.word.load(std::memory_order_relaxed) / oneLife;
        slot.word.store(life * oneLife | armed | listed, std::memory_order_relaxed);
        list(place);
        return {place, life};
    }

    /// Ends a timer. False if it has ended before. After true, no further call of its handler
    /// begins; the call that is running goes on.
    bool cancel(Timer timer) noexcept {
        if (timer.place_ >= Count) {
            return false;
        }
        Slot& slot = slots_[timer.place_];
        CounterWord seen = slot.word.load(std::memory_order_relaxed);  // relaxed: checked below
        do {
            const CounterWord state = seen & stateMask;
            if (seen / oneLife != timer.life_ || (state != armed && state != firing)) {
                return false;
            }
        } while (!slot.word.compare_exchange_weak(seen, (seen & ~stateMask) | cancelled | listed,
                                                  std::memory_order_acquire,
                                                  std::memory_order_relaxed));  // E2 taken
        if ((seen & listed) == 0) {
            list(timer.place_);
        }
        return true;
    }

    // ---- The owner

    /// Whether takeNews() would find something. Relaxed: takeNews() acquires.
    [[nodiscard]] bool hasNews() const noexcept {
        return news_.load(std::memory_order_relaxed) != 0;
    }

    /// Calls isArmed(place) for each timer that was started, and isCancelled(place) for each one
    /// that was cancelled, whose slot is free afterwards. Older news first. A timer whose handler
    /// runs keeps its slot, and the handler its message: again() frees that slot.
    template <class IsArmed, class IsCancelled>
    void takeNews(IsArmed isArmed, IsCancelled isCancelled) noexcept {
        if (!hasNews()) {
            return;
        }
        Place oldest = reversed(news_.exchange(0, std::memory_order_acquire));  // E1 told
        while (oldest != 0) {
            const Place place = oldest - 1;
            oldest = slots_[place].next.load(std::memory_order_relaxed);  // relaxed: own write
            const CounterWord word = slots_[place].word.fetch_and(
                static_cast<CounterWord>(~listed), std::memory_order_release);  // E2 taken
            if ((word & stateMask) != cancelled) {
                isArmed(place);
            } else if (place != firing_) {
                isCancelled(place);
                endCancelled(place, word);
            }
        }
    }

    [[nodiscard]] Entry& entry(Place place) noexcept { return slots_[place].entry.get(); }

    /// Ends an armed timer that fires for the last time. False if it has been cancelled. After
    /// true, release() follows when its handler has returned.
    [[nodiscard]] bool end(Place place) noexcept {
        Slot& slot = slots_[place];
        CounterWord word = slot.word.load(std::memory_order_relaxed);  // relaxed, both: see change
        return (word & stateMask) == armed &&
               slot.word.compare_exchange_strong(word, nextLife(word), std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }
    void release(Place place) noexcept {
        slots_[place].entry.destroy();
        free_.giveBack(static_cast<typename Free::Slot>(place));  // E3 free
    }

    /// Marks an armed timer whose handler is about to run and that will fire again. False if it has
    /// been cancelled. After true, again() follows when its handler has returned.
    [[nodiscard]] bool begin(Place place) noexcept {
        const bool isBegun = change(place, armed, firing);
        firing_ = isBegun ? place : none;
        return isBegun;
    }
    /// Arms it again. False if it has been cancelled meanwhile.
    [[nodiscard]] bool again(Place place) noexcept {
        firing_ = none;
        if (change(place, firing, armed)) {
            return true;
        }
        // Relaxed: what the owner has seen in takeNews() it sees again.
        const CounterWord word = slots_[place].word.load(std::memory_order_relaxed);
        if ((word & listed) == 0) {
            endCancelled(place, word);  // takeNews() has left it; otherwise it will come there
        }
        return false;
    }

private:
    static constexpr CounterWord vacant = 0;
    static constexpr CounterWord armed = 1;
    static constexpr CounterWord firing = 2;
    static constexpr CounterWord cancelled = 3;
    static constexpr CounterWord stateMask = 3;
    static constexpr CounterWord listed = 4;
    static constexpr CounterWord oneLife = 8;

    using Free = SlotStack<Platform, Count>;

    struct Slot {
        Atomic<CounterWord> word{oneLife | vacant};  ///< life, `listed`, state
        Atomic<Place> next{0};                       ///< next older slot on the list + 1; 0: none
        typename Platform::template Cell<Entry> entry;
    };

    static constexpr Place none = Count;

    void endCancelled(Place place, CounterWord word) noexcept {
        // Relaxed: the slot is the owner's until release().
        slots_[place].word.store(nextLife(word), std::memory_order_relaxed);
        release(place);
    }

    static CounterWord nextLife(CounterWord word) noexcept {
        return (word / oneLife + 1) * oneLife | vacant;
    }

    /// Relaxed: a slot that the owner knows and that is not listed is changed by cancel() only,
    /// which writes nothing but the word and the link. A changed word keeps E2 going.
    [[nodiscard]] bool change(Place place, CounterWord from, CounterWord to) noexcept {
        Slot& slot = slots_[place];
        CounterWord word = slot.word.load(std::memory_order_relaxed);
        return (word & stateMask) == from &&
               slot.word.compare_exchange_strong(word, (word & ~stateMask) | to,
                                                 std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }

    void list(Place place) noexcept {
        Place newest = news_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            // Relaxed: E1 releases it.
            slots_[place].next.store(newest, std::memory_order_relaxed);
        } while (!news_.compare_exchange_weak(newest, place + 1, std::memory_order_release,
                                              std::memory_order_relaxed));  // E1 told
    }

    /// The owner has taken the list, so it may turn the links round.
    [[nodiscard]] Place reversed(Place newest) noexcept {
        Place done = 0;
        while (newest != 0) {
            Atomic<Place>& next = slots_[newest - 1].next;
            const Place older = next.load(std::memory_order_relaxed);  // E1
            next.store(done, std::memory_order_relaxed);  // relaxed: read by the owner only
            done = std::exchange(newest, older);
        }
        return done;
    }

    Place firing_ = none;    ///< the owner's: the timer whose handler runs
    Atomic<Place> news_{0};  ///< the newest slot on the list + 1; 0: none
    Free free_;
    std::array<Slot, Count> slots_;
};

}  // namespace sluice::detail
