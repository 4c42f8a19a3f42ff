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

/// The timers of one object. Any thread starts and cancels them. One thread, the owner, lets them
/// fire.
///
/// A slot is free, armed, firing (its handler runs, and it will be armed again) or cancelled. The
/// thread that starts or cancels a timer puts the slot on the list of news. The owner takes the
/// whole list and reads each slot. Only the owner frees a slot.
///
/// Progress: lock-free. A stopped thread delays no other thread. A slot that it has claimed cannot
/// be used meanwhile.
///
/// Invariants: a slot is on the list at most once: the bit `listed` is set while it is there. The
/// generation of a slot grows when its timer ends, so an old Timer names no timer. The owner knows
/// each armed slot that is not listed.
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
    using Index = std::uint32_t;

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
        typename Free::Slot index{};
        if (!free_.tryTake(index)) {
            return {};
        }
        struct Claim {
            Free& stack;
            typename Free::Slot index;
            bool isOpen = true;
            ~Claim() {
                if (isOpen) {
                    stack.giveBack(index);
                }
            }
        } claim{free_, index};
        Slot& slot = slots_[index];
        slot.entry.construct(std::forward<Args>(args)...);
        claim.isOpen = false;
        // Relaxed, both: this thread has the slot, and E1 releases both writes.
        const CounterWord generation = slot.word.load(std::memory_order_relaxed) / oneGeneration;
        slot.word.store(generation * oneGeneration | armed | listed, std::memory_order_relaxed);
        list(index);
        return {index, generation};
    }

    /// Ends a timer. False if it has ended before. After true, no further call of its handler
    /// begins; the call that is running goes on.
    bool cancel(Timer timer) noexcept {
        if (timer.slot_ >= Count) {
            return false;
        }
        Slot& slot = slots_[timer.slot_];
        CounterWord seen = slot.word.load(std::memory_order_relaxed);  // relaxed: checked below
        do {
            const CounterWord state = seen & stateMask;
            if (seen / oneGeneration != timer.generation_ || (state != armed && state != firing)) {
                return false;
            }
        } while (!slot.word.compare_exchange_weak(seen, (seen & ~stateMask) | cancelled | listed,
                                                  std::memory_order_acquire,
                                                  std::memory_order_relaxed));  // E2 taken
        if ((seen & listed) == 0) {
            list(timer.slot_);
        }
        return true;
    }

    // ---- The owner

    /// Whether takeNews() would find something. Relaxed: takeNews() acquires.
    [[nodiscard]] bool hasNews() const noexcept {
        return news_.load(std::memory_order_relaxed) != 0;
    }

    /// Calls isArmed(index) for each timer that was started, and isCancelled(index) for each timer
    /// that was cancelled. It frees the slots of the cancelled ones. Older news come first. A timer
    /// keeps its slot and its message while its handler runs: rearm() frees that slot.
    template <class IsArmed, class IsCancelled>
    void takeNews(IsArmed isArmed, IsCancelled isCancelled) noexcept {
        if (!hasNews()) {
            return;
        }
        Index oldest = reversed(news_.exchange(0, std::memory_order_acquire));  // E1 told
        while (oldest != 0) {
            const Index index = oldest - 1;
            oldest = slots_[index].next.load(std::memory_order_relaxed);  // relaxed: own write
            const CounterWord word = slots_[index].word.fetch_and(
                static_cast<CounterWord>(~listed), std::memory_order_release);  // E2 taken
            if ((word & stateMask) != cancelled) {
                isArmed(index);
            } else if (index != firing_) {
                isCancelled(index);
                endCancelled(index, word);
            }
        }
    }

    [[nodiscard]] Entry& entry(Index index) noexcept { return slots_[index].entry.get(); }

    /// Ends an armed timer that fires for the last time. False if it has been cancelled. After
    /// true, release() follows when its handler has returned.
    [[nodiscard]] bool end(Index index) noexcept {
        Slot& slot = slots_[index];
        CounterWord word = slot.word.load(std::memory_order_relaxed);  // relaxed, both: see change
        return (word & stateMask) == armed &&
               slot.word.compare_exchange_strong(word, nextGeneration(word),
                                                 std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }
    void release(Index index) noexcept {
        slots_[index].entry.destroy();
        free_.giveBack(static_cast<typename Free::Slot>(index));  // E3 free
    }

    /// Marks an armed periodic timer: its handler is about to run. False if the timer has been
    /// cancelled. After true, rearm() follows when the handler has returned.
    [[nodiscard]] bool begin(Index index) noexcept {
        const bool isBegun = change(index, armed, firing);
        firing_ = isBegun ? index : none;
        return isBegun;
    }
    /// Arms it again. False if it has been cancelled meanwhile.
    [[nodiscard]] bool rearm(Index index) noexcept {
        firing_ = none;
        if (change(index, firing, armed)) {
            return true;
        }
        // Relaxed: takeNews() of this thread has acquired it.
        const CounterWord word = slots_[index].word.load(std::memory_order_relaxed);
        if ((word & listed) == 0) {
            endCancelled(index,
                         word);  // takeNews() has passed it; a listed slot is left to takeNews()
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
    static constexpr CounterWord oneGeneration = 8;

    using Free = SlotStack<Platform, Count>;

    struct Slot {
        Atomic<CounterWord> word{oneGeneration | vacant};  ///< generation, `listed`, state
        Atomic<Index> next{0};  ///< next older slot on the list + 1; 0: none
        typename Platform::template Cell<Entry> entry;
    };

    static constexpr Index none = Count;

    void endCancelled(Index index, CounterWord word) noexcept {
        // Relaxed: the slot is the owner's until release().
        slots_[index].word.store(nextGeneration(word), std::memory_order_relaxed);
        release(index);
    }

    static CounterWord nextGeneration(CounterWord word) noexcept {
        return (word / oneGeneration + 1) * oneGeneration | vacant;
    }

    /// Relaxed: a slot that the owner knows and that is not listed is changed by cancel() only,
    /// which writes nothing but the word and the link. A changed word keeps E2 going.
    [[nodiscard]] bool change(Index index, CounterWord from, CounterWord to) noexcept {
        Slot& slot = slots_[index];
        CounterWord word = slot.word.load(std::memory_order_relaxed);
        return (word & stateMask) == from &&
               slot.word.compare_exchange_strong(word, (word & ~stateMask) | to,
                                                 std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }

    void list(Index index) noexcept {
        Index newest = news_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            // Relaxed: E1 releases it.
            slots_[index].next.store(newest, std::memory_order_relaxed);
        } while (!news_.compare_exchange_weak(newest, index + 1, std::memory_order_release,
                                              std::memory_order_relaxed));  // E1 told
    }

    /// Reverses the links. The owner has taken the list, so no other thread reads them.
    [[nodiscard]] Index reversed(Index newest) noexcept {
        Index done = 0;
        while (newest != 0) {
            Atomic<Index>& next = slots_[newest - 1].next;
            const Index older = next.load(std::memory_order_relaxed);  // E1
            next.store(done, std::memory_order_relaxed);  // relaxed: read by the owner only
            done = std::exchange(newest, older);
        }
        return done;
    }

    Index firing_ = none;    ///< the timer with a running handler; written by the owner
    Atomic<Index> news_{0};  ///< the newest slot on the list + 1, 0 for none; written by any thread
    Free free_;
    std::array<Slot, Count> slots_;
};

}  // namespace sluice::detail
