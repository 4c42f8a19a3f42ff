#pragma once

#include <sluice/actor/timer.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/tagged_head.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// The timers of one object, at most Count at a time. Any thread may start and cancel timers. One
/// thread, the owner, lets them fire.
///
/// A slot has one of four states: free; armed; firing (its handler runs, and it will be armed
/// again); cancelled. The thread that starts or cancels a timer puts the slot on the list of news.
/// The owner takes the whole list and reads each slot. Only the owner frees a slot.
///
/// There is one more slot than timers: the spare one. When a timer fires for the last time, its
/// message stays in its slot until the handler has returned. So its slot becomes the spare one, and
/// the former spare slot becomes free. The handler may start the next timer there.
///
/// Progress: lock-free: a stopped thread delays no other thread. The slot that it has claimed
/// cannot be used meanwhile.
///
/// Invariants: a slot is on the list at most once, because its bit `listed` is set while it is
/// there. The generation of a slot grows when its timer ends, so an old Timer matches no timer.
/// With a CounterWord of 32 bits it begins again after 2^29 timers. It is never 0. The owner knows
/// each armed slot that is not listed.
///
/// Edges:
///
/// - E1 told: entry, word and link written -> list pushed with release .. list taken with acquire
///   -> read by the owner.
/// - E2 taken: link read -> `listed` cleared with release .. acquired by cancel() -> link written.
/// - E3 free: that of SlotStack.
///
/// Tests: tests/unit/actor/timer_slots_test.cpp, tests/unit/actor/timer_test.cpp,
/// tests/model/timer_slots_model_test.cpp.
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
        free_.takeAll();  // so no destructor of a message starts a timer
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
        FreeSlot index{};
        if (!free_.tryTake(index)) {
            return {};
        }
        struct Claim {
            Free& stack;
            FreeSlot index;
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
    /// begins. A call that is running continues.
    bool cancel(Timer timer) noexcept {
        if (timer.slot_ > Count) {
            return false;
        }
        Slot& slot = slots_[timer.slot_];
        // Relaxed: the exchange checks it.
        CounterWord seen = slot.word.load(std::memory_order_relaxed);
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

    /// Whether takeChanges() would find something. Relaxed: takeChanges() acquires.
    [[nodiscard]] bool hasChanges() const noexcept {
        return changes_.load(std::memory_order_relaxed) != 0;
    }

    /// Takes the list of news, the oldest first. Calls isArmed(index) for each timer that was
    /// started, and isCancelled(index) for each timer that was cancelled, and frees the slots of
    /// the cancelled ones. Exception: while the handler of a timer runs, the timer keeps its slot
    /// and its message. rearm() frees that slot.
    template <class IsArmed, class IsCancelled>
    void takeChanges(IsArmed isArmed, IsCancelled isCancelled) noexcept {
        if (!hasChanges()) {
            return;
        }
        Index oldest = reversed(changes_.exchange(0, std::memory_order_acquire));  // E1 told
        while (oldest != 0) {
            const Index index = oldest - 1;
            // Relaxed: written by this thread.
            oldest = slots_[index].next.load(std::memory_order_relaxed);
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

    /// Ends an armed timer that fires for the last time, and makes its slot the spare one. False if
    /// it has been cancelled. After true, the owner calls destroyEntry() when the handler has
    /// returned.
    [[nodiscard]] bool end(Index index) noexcept {
        Slot& slot = slots_[index];
        CounterWord word = slot.word.load(std::memory_order_relaxed);  // relaxed, both: see change
        const bool isEnded =
            (word & stateMask) == armed &&
            slot.word.compare_exchange_strong(word, nextGeneration(word), std::memory_order_relaxed,
                                              std::memory_order_relaxed);
        if (isEnded) {
            free_.giveBack(std::exchange(spare_, static_cast<FreeSlot>(index)));  // E3 free
        }
        return isEnded;
    }
    void destroyEntry(Index index) noexcept { slots_[index].entry.destroy(); }

    /// Marks an armed periodic timer as firing. False if the timer has been cancelled. After true,
    /// the owner calls rearm() when the handler has returned.
    [[nodiscard]] bool begin(Index index) noexcept {
        const bool isBegun = change(index, armed, firing);
        firing_ = isBegun ? index : none;
        return isBegun;
    }
    /// Arms a firing timer again. False if it has been cancelled meanwhile.
    [[nodiscard]] bool rearm(Index index) noexcept {
        firing_ = none;
        if (change(index, firing, armed)) {
            return true;
        }
        // Relaxed: takeChanges() has acquired it on this thread.
        const CounterWord word = slots_[index].word.load(std::memory_order_relaxed);
        if ((word & listed) == 0) {
            // takeChanges() has taken the slot off the list and left it to this call. A slot that is
            // still listed is freed by takeChanges().
            endCancelled(index, word);
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

    using Free = SlotStack<Platform, Count + 1>;
    using FreeSlot = typename Free::Slot;

    struct Slot {
        Atomic<CounterWord> word{oneGeneration | vacant};  ///< generation, `listed`, state
        Atomic<Index> next{0};  ///< index + 1 of the next older slot on the list; 0: none
        typename Platform::template Cell<Entry> entry;
    };

    static constexpr Index none = Count + 1;

    void endCancelled(Index index, CounterWord word) noexcept {
        // Relaxed: until giveBack(), only the owner uses the slot.
        slots_[index].word.store(nextGeneration(word), std::memory_order_relaxed);
        destroyEntry(index);
        free_.giveBack(static_cast<FreeSlot>(index));  // E3 free
    }

    static CounterWord nextGeneration(CounterWord word) noexcept {
        const CounterWord next = (word / oneGeneration + 1) * oneGeneration;
        // Generation 0 is that of an empty Timer.
        return (next != 0 ? next : oneGeneration) | vacant;
    }

    /// Changes the state of a slot that the owner knows. False if it has another state. Relaxed: if
    /// the slot is not listed, only cancel() may change it, and cancel() writes nothing but the
    /// word and the link. An exchange of the word continues the release sequence of E2.
    [[nodiscard]] bool change(Index index, CounterWord from, CounterWord to) noexcept {
        Slot& slot = slots_[index];
        CounterWord word = slot.word.load(std::memory_order_relaxed);
        return (word & stateMask) == from &&
               slot.word.compare_exchange_strong(word, (word & ~stateMask) | to,
                                                 std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }

    void list(Index index) noexcept {
        Index newest = changes_.load(std::memory_order_relaxed);  // relaxed: only the value is used
        do {
            // Relaxed: the release of E1 publishes it.
            slots_[index].next.store(newest, std::memory_order_relaxed);
        } while (!changes_.compare_exchange_weak(newest, index + 1, std::memory_order_release,
                                              std::memory_order_relaxed));  // E1 told
    }

    /// Reverses the list and returns its oldest slot. The owner has taken the list, so no other
    /// thread reads the links.
    [[nodiscard]] Index reversed(Index newest) noexcept {
        Index done = 0;
        while (newest != 0) {
            Atomic<Index>& next = slots_[newest - 1].next;
            const Index older = next.load(std::memory_order_relaxed);  // E1
            next.store(done, std::memory_order_relaxed);  // relaxed: only the owner reads it
            done = std::exchange(newest, older);
        }
        return done;
    }

    Index firing_ = none;  ///< the periodic timer whose handler runs, or none; written by the owner
    /// Index + 1 of the newest slot on the list; 0: none; written by any thread.
    Atomic<Index> changes_{0};
    Free free_;
    FreeSlot spare_{};  ///< the slot that cannot be taken; written by the owner
    std::array<Slot, Count + 1> slots_;
};

}  // namespace sluice::detail
