#pragma once

#include <sluice/base/tagged_head.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// Hands out the numbers of free slots to any number of threads. So any thread can take a free slot
/// of a structure and give a slot back, in any order, without a lock and without a heap.
///
///     SlotStack<StdPlatform, 8> free;  // the slots 0 to 7, all free
///     std::uint16_t slot = 0;
///     if (free.tryTake(slot)) {
///         use(cells[slot]);
///         free.giveBack(slot);
///     }
///
/// Threads: any thread calls all functions. Give a slot back once for each time it was taken.
///
/// Progress: lock-free. A stopped thread delays no other thread. giveBack() never fails.
///
/// Memory promise: the thread that takes a slot sees each write to the slot before it was given
/// back.
///
/// Edges: those of TaggedHead. The tag has 48 bits, or 32 bits if there are more than 65,535 slots.
/// On machines without atomic words of 64 bits, tag and slot share 32 bits: 4 slots leave 29 bits
/// for the tag.
///
/// Tests: tests/unit/base/slot_stack_test.cpp, tests/model/latest_model_test.cpp,
/// tests/model/tagged_head_model_test.cpp.
template <class Platform, std::size_t Count>
class SlotStack {
    // The number `Count` means: no slot.
    static constexpr auto none = static_cast<std::uint32_t>(Count);
    static_assert(Count == none, "a SlotStack has fewer than 2^32 slots");
    using Head = TaggedHead<Platform, typename Platform::WideWord, none, none>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = typename Head::Number;

    SlotStack() noexcept {
        for (std::size_t i = 0; i < Count; ++i) {
            // Relaxed: not shared yet. `none` follows the last slot.
            next_[i].store(static_cast<Slot>(i + 1), std::memory_order_relaxed);
        }
    }

    /// Takes a free slot. Returns false if there is none.
    bool tryTake(Slot& slot) noexcept {
        const auto top = top_.pop(nextOf());
        slot = top.number();
        return !top.isEmpty();
    }
    /// Takes all free slots, so that tryTake() returns false until one is given back.
    void takeAll() noexcept {
        for (Slot slot{}; tryTake(slot);) {
        }
    }

    void giveBack(Slot slot) noexcept { top_.push(slot, nextOf()); }

private:
    auto nextOf() noexcept {
        return [this](Slot slot) -> Atomic<Slot>& { return next_[slot]; };
    }

    Head top_{0};
    std::array<Atomic<Slot>, Count> next_;
};

}  // namespace sluice
