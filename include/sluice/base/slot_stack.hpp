#pragma once

/// \file
/// SlotStack: hands out the numbers of free slots, to any number of threads.
///
/// Purpose: a structure with its slots in place lets any thread take a free slot and give a slot
/// back in any order, without a lock and without memory of its own.
///
///     SlotStack<StdPlatform, 8> free;  // the slots 0 to 7, all free
///     std::uint16_t slot = 0;
///     if (free.tryTake(slot)) {
///         use(cells[slot]);
///         free.giveBack(slot);
///     }
///
/// Who may call what: both functions, any thread. Give a slot back once for each time it was taken.
///
/// Progress: lock-free. A compare-exchange that fails means that another thread's succeeded. A
/// stopped thread delays nobody. giveBack() never fails.
///
/// Memory promise: the thread that takes a slot sees what was done to the slot before it was given
/// back.
///
/// Edges: E1 free: given back release .. taken acquire.
///
/// Invariant: the tag of the top grows with each change. A thread that is stopped in tryTake() must
/// not take a slot with an old successor, so it compares the tag too. The tag has 48 bits, which do
/// not repeat in practice. It has 32 bits if there are 65,535 slots or more. It has 16 bits on
/// machines without atomic words of 64 bits: there a thread would have to be stopped for exactly
/// 65,536 changes, or a multiple of them.
///
/// Origin: R. K. Treiber's stack.
///
/// Tests: tests/unit/base/slot_stack_test.cpp, tests/model/bus_model_test.cpp,
/// tests/model/latest_model_test.cpp.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

template <class Platform, std::size_t Count>
class SlotStack {
    static constexpr bool isSmall = Count < 0xffff;
    static constexpr bool hasWideWords = std::atomic<std::uint64_t>::is_always_lock_free;
    using Word = std::conditional_t<isSmall && !hasWideWords, std::uint32_t, std::uint64_t>;
    static constexpr unsigned indexBits = isSmall ? 16 : 32;
    static constexpr Word indexMask = (Word{1} << indexBits) - 1;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = std::conditional_t<isSmall, std::uint16_t, std::uint32_t>;

    SlotStack() noexcept {
        for (std::size_t i = 0; i < Count; ++i) {
            // Relaxed: not shared yet. The last one is followed by `none`.
            next_[i].store(static_cast<Slot>(i + 1), std::memory_order_relaxed);
        }
    }

    /// False when there is none.
    bool tryTake(Slot& slot) noexcept {
        Word top = 0;
        Slot after{};
        do {
            top = top_.load(std::memory_order_acquire);  // E1 free
            slot = static_cast<Slot>(top & indexMask);
            if (slot == none) {
                return false;
            }
            // Relaxed: E1 has brought it, or the tag has changed.
            after = next_[slot].load(std::memory_order_relaxed);
            // Relaxed: `top` has been acquired.
        } while (!top_.compare_exchange_weak(top, changed(top, after), std::memory_order_relaxed,
                                             std::memory_order_relaxed));
        return true;
    }

    void giveBack(Slot slot) noexcept {
        Word top = top_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            // Relaxed: E1 makes it visible.
            next_[slot].store(static_cast<Slot>(top & indexMask), std::memory_order_relaxed);
        } while (!top_.compare_exchange_weak(top, changed(top, slot), std::memory_order_release,
                                             std::memory_order_relaxed));  // E1 free
    }

private:
    static constexpr Slot none = static_cast<Slot>(Count);

    static constexpr Word changed(Word top, Slot slot) noexcept {
        const Word tag = static_cast<Word>((top >> indexBits) + 1);
        return static_cast<Word>(tag << indexBits | slot);
    }

    Atomic<Word> top_{0};
    std::array<Atomic<Slot>, Count> next_;
};

}  // namespace sluice
