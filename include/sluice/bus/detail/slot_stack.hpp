#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

/// The free slots of a ring: any thread takes one, any thread gives it back. Lock-free, and giving
/// back never fails.
///
/// The top carries a tag that grows with each change. Otherwise a thread stopped in tryTake()
/// could take a slot whose successor is an old one. It would have to be stopped for 65,536 changes
/// of a stack of up to 65,535 slots, and for 4 billion changes of a larger one.
///
/// Edges: E1 free: given back release .. taken acquire: the thread that takes a slot sees what was
/// done to it.
///
/// Origin: R. K. Treiber's stack.
template <class Platform, std::size_t Count>
class SlotStack {
    static constexpr bool isSmall = Count < 0xffff;
    using Word = std::conditional_t<isSmall, std::uint32_t, std::uint64_t>;
    static constexpr unsigned half = isSmall ? 16 : 32;
    static constexpr Word indexMask = (Word{1} << half) - 1;
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
        Word top = top_.load(std::memory_order_acquire);  // E1 free
        while ((top & indexMask) != none) {
            slot = static_cast<Slot>(top & indexMask);
            // Relaxed: E1 has brought it, or the tag has changed.
            const Slot after = next_[slot].load(std::memory_order_relaxed);
            // Relaxed when it succeeds: `top` has been acquired.
            if (top_.compare_exchange_weak(top, changed(top, after), std::memory_order_relaxed,
                                           std::memory_order_acquire)) {  // E1 free
                return true;
            }
        }
        return false;
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
        const Word tag = static_cast<Word>((top >> half) + 1);
        return static_cast<Word>(tag << half | slot);
    }

    Atomic<Word> top_{0};
    std::array<Atomic<Slot>, Count> next_;
};

}  // namespace sluice::detail
