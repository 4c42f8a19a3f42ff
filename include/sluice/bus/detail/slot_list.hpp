#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

/// The smallest type that numbers so many slots and has a number left for "none".
template <std::size_t Count>
using SlotNumber =
    std::conditional_t<Count <= 0xff, std::uint8_t,
                       std::conditional_t<Count <= 0xffff, std::uint16_t, std::uint32_t>>;

/// The successor of each slot in the list that it is in, for lists that share the slots.
template <std::size_t Count>
class SlotLinks {
public:
    using Slot = SlotNumber<Count>;

    Slot& operator[](Slot slot) noexcept { return next_[slot]; }

private:
    std::array<Slot, Count> next_;
};

/// Slots, first in, first out. A slot is in one list at a time.
template <std::size_t Count>
class SlotList {
public:
    using Links = SlotLinks<Count>;
    using Slot = typename Links::Slot;

    [[nodiscard]] bool isEmpty() const noexcept { return size_ == 0; }

    void pushBack(Links& next, Slot slot) noexcept {
        if (size_++ == 0) {
            first_ = slot;
        } else {
            next[last_] = slot;
        }
        last_ = slot;
    }

    // Not for an empty list:
    [[nodiscard]] Slot front() const noexcept { return first_; }
    Slot popFront(Links& next) noexcept {
        const Slot slot = first_;
        first_ = next[slot];
        --size_;
        return slot;
    }

    /// Takes out the first one for which pred(slot) holds. False when there is none.
    template <class Predicate>
    bool takeFirst(Links& next, Predicate pred, Slot& taken) {
        Slot before{};
        Slot slot = first_;
        for (std::size_t i = 0; i < size_; ++i, before = slot, slot = next[slot]) {
            if (pred(slot)) {
                if (i == 0) {
                    first_ = next[slot];
                } else {
                    next[before] = next[slot];
                }
                if (i + 1 == size_) {
                    last_ = before;
                }
                --size_;
                taken = slot;
                return true;
            }
        }
        return false;
    }

private:
    Slot first_{};
    Slot last_{};
    std::size_t size_ = 0;
};

}  // namespace sluice::detail
