#pragma once

#include <sluice/actor/timer.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/tagged_head.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// At most Count timers of one object. Any thread starts and cancels timers; only the object's
/// thread, the owner, fires timers. Lock-free: a preempted arm() or cancel() blocks one slot.
template <class Platform, class Entry, std::size_t Count>
class TimerSlots {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    static_assert(Count < 0xffffffffU, "an object has less than 2^32 timers");

public:
    using Index = std::uint32_t;

    TimerSlots() { (void)free_.tryTake(spare_); }
    TimerSlots(const TimerSlots&) = delete;
    TimerSlots& operator=(const TimerSlots&) = delete;
    ~TimerSlots() {
        free_.takeAll();  // so that the destructor of a message cannot start a timer
        for (Slot& slot : slots_) {
            // Relaxed: own variable.
            if ((slot.word.load(std::memory_order_relaxed) & stateMask) != vacant) {
                slot.entry.destroy();
            }
        }
    }

    // ---- Any thread

    /// Returns an empty Timer if no slot is free.
    template <class... Args>
    Timer arm(Args&&... args) {
        FreeSlot index{};
        if (!free_.tryTake(index)) {
            return {};
        }
        Slot& slot = slots_[index];
        bool isConstructed = false;
        const OnExit giveBack{[&] {
            if (!isConstructed) {
                free_.giveBack(index);
            }
        }};
        slot.entry.construct(std::forward<Args>(args)...);
        isConstructed = true;
        // Relaxed: own variable; published by E1.
        const CounterWord generation = slot.word.load(std::memory_order_relaxed) / oneGeneration;
        slot.word.store(generation * oneGeneration | armed | listed, std::memory_order_relaxed);
        list(index);
        return {index, generation};
    }

    /// Returns false if the timer has ended. If cancel() returns true, the timer's handler is not
    /// called again.
    bool cancel(Timer timer) noexcept {
        if (timer.slot_ > Count) {
            return false;
        }
        Slot& slot = slots_[timer.slot_];
        CounterWord seen = slot.word.load(std::memory_order_relaxed);  // hint
        do {
            const CounterWord state = seen & stateMask;
            if (seen / oneGeneration != timer.generation_ || (state != armed && state != firing)) {
                return false;
            }
        } while (!slot.word.compare_exchange_weak(seen, (seen & ~stateMask) | cancelled | listed,
                                                  std::memory_order_acquire,    // E2 unlist
                                                  std::memory_order_relaxed));  // retried
        if ((seen & listed) == 0) {
            list(timer.slot_);
        }
        return true;
    }

    // ---- The owner

    [[nodiscard]] bool hasChanges() const noexcept {
        return changes_.load(std::memory_order_relaxed) != 0;  // hint
    }

    /// Calls isArmed(index) for each started timer and isCancelled(index) for each cancelled timer.
    /// Frees cancelled timers' slots. If a timer's handler is running, rearm() frees its slot.
    template <class IsArmed, class IsCancelled>
    void takeChanges(IsArmed isArmed, IsCancelled isCancelled) noexcept {
        if (!hasChanges()) {
            return;
        }
        Index oldest = reversed(changes_.exchange(0, std::memory_order_acquire));  // E1 list
        while (oldest != 0) {
            const Index index = oldest - 1;
            oldest = slots_[index].next.load(std::memory_order_relaxed);  // own variable
            const CounterWord word = slots_[index].word.fetch_and(static_cast<CounterWord>(~listed),
                                                                  std::memory_order_release);  // E2
            if ((word & stateMask) != cancelled) {
                isArmed(index);
            } else if (index != firing_) {
                isCancelled(index);
                endCancelled(index, word);
            }
        }
    }

    [[nodiscard]] Entry& entry(Index index) noexcept { return slots_[index].entry.get(); }

    /// Ends a timer before its last handler call. Returns false if the timer has been cancelled. If
    /// end() returns true, the caller must call destroyEntry() after the handler.
    [[nodiscard]] bool end(Index index) noexcept {
        Slot& slot = slots_[index];
        CounterWord word = slot.word.load(std::memory_order_relaxed);  // value only
        const bool isEnded =
            (word & stateMask) == armed &&
            slot.word.compare_exchange_strong(word, nextGeneration(word), std::memory_order_relaxed,
                                              std::memory_order_relaxed);
        if (isEnded) {
            free_.giveBack(std::exchange(spare_, static_cast<FreeSlot>(index)));  // E3 reuse
        }
        return isEnded;
    }
    void destroyEntry(Index index) noexcept { slots_[index].entry.destroy(); }

    /// Marks a periodic timer as firing. Returns false if the timer has been cancelled. If begin()
    /// returns true, the caller must call rearm() after the handler.
    [[nodiscard]] bool begin(Index index) noexcept {
        const bool isBegun = change(index, armed, firing);
        firing_ = isBegun ? index : none;
        return isBegun;
    }
    /// Arms a firing timer again. Returns false if the timer has been cancelled.
    [[nodiscard]] bool rearm(Index index) noexcept {
        firing_ = none;
        if (change(index, firing, armed)) {
            return true;
        }
        const CounterWord word =
            slots_[index].word.load(std::memory_order_relaxed);  // acquired before
        if ((word & listed) == 0) {  // if listed, takeChanges() frees the slot
            endCancelled(index, word);
        }
        return false;
    }

private:
    // Happens-before edges (proof: docs/algorithms/actors.md):
    //   E1 list: arm/cancel -> takeChanges.
    //   E2 unlist: takeChanges -> cancel.
    //   E3 reuse: end -> arm.

    static constexpr CounterWord vacant = 0;
    static constexpr CounterWord armed = 1;
    static constexpr CounterWord firing = 2;
    static constexpr CounterWord cancelled = 3;
    static constexpr CounterWord stateMask = 3;
    static constexpr CounterWord listed = 4;
    static constexpr CounterWord oneGeneration = 8;

    using Free = SlotStack<Platform, Count + 1>;
    using FreeSlot = typename Free::Slot;

    struct Slot {
        Atomic<CounterWord> word{oneGeneration | vacant};  ///< generation, `listed`, state
        Atomic<Index> next{0};  ///< index + 1 of the next older slot in the list of changes, or 0
        typename Platform::template Cell<Entry> entry;
    };

    static constexpr Index none = Count + 1;

    void endCancelled(Index index, CounterWord word) noexcept {
        slots_[index].word.store(nextGeneration(word), std::memory_order_relaxed);  // own variable
        destroyEntry(index);
        free_.giveBack(static_cast<FreeSlot>(index));  // E3 reuse
    }

    static CounterWord nextGeneration(CounterWord word) noexcept {
        const CounterWord next = (word / oneGeneration + 1) * oneGeneration;
        return (next != 0 ? next : oneGeneration) | vacant;  // generation 0: empty Timer
    }

    /// Returns false if the state of the slot is not `from`. Relaxed: value only; the exchange
    /// continues E2's release sequence.
    [[nodiscard]] bool change(Index index, CounterWord from, CounterWord to) noexcept {
        Slot& slot = slots_[index];
        CounterWord word = slot.word.load(std::memory_order_relaxed);
        return (word & stateMask) == from &&
               slot.word.compare_exchange_strong(word, (word & ~stateMask) | to,
                                                 std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }

    void list(Index index) noexcept {
        Index newest = changes_.load(std::memory_order_relaxed);  // value only
        do {
            slots_[index].next.store(newest, std::memory_order_relaxed);  // by E1
        } while (!changes_.compare_exchange_weak(newest, index + 1,
                                                 std::memory_order_release,    // E1 list
                                                 std::memory_order_relaxed));  // retried
    }

    /// Reverses a list taken from changes_, and returns its oldest slot as index + 1.
    [[nodiscard]] Index reversed(Index newest) noexcept {
        Index done = 0;
        while (newest != 0) {
            Atomic<Index>& next = slots_[newest - 1].next;
            const Index older = next.load(std::memory_order_relaxed);  // by E1
            next.store(done, std::memory_order_relaxed);               // own variable
            done = std::exchange(newest, older);
        }
        return done;
    }

    Index firing_ = none;  ///< slot of the periodic timer whose handler runs; written by the owner
    /// The list of started and cancelled timers: index + 1 of the newest slot, or 0 if empty.
    Atomic<Index> changes_{0};
    Free free_;
    FreeSlot spare_{};  ///< end() frees it, keeps the ended timer's slot; written by the owner
    std::array<Slot, Count + 1> slots_;
};

}  // namespace sluice::detail
