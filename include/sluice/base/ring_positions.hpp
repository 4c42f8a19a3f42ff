#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice {

constexpr std::size_t roundUpToPowerOfTwo(std::size_t n) noexcept {
    std::size_t power = 1;
    while (power < n) {
        power *= 2;
    }
    return power;
}

/// Arithmetic of ring positions. A position is an even number; two positions apart are one message
/// apart. The lowest bit of the word is free for a mark (closed, in a push, filled). All sums are
/// taken modulo the Index type, so the wrap is harmless.
template <class Index>
struct RingPositions {
    static_assert(std::is_unsigned_v<Index>, "the Index of the traits must be an unsigned integer");

    static constexpr Index one = 2;
    static constexpr Index mark = 1;

    /// The largest number of slots (a power of two) for which all positions of a lap, and the first
    /// position of the next lap, differ.
    static constexpr std::size_t maxCapacity = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::uint64_t{std::numeric_limits<Index>::max() / 4} + 1,
                                std::numeric_limits<std::size_t>::max() / 4));

    static constexpr Index unmarked(Index word) noexcept {
        return static_cast<Index>(word & static_cast<Index>(~mark));
    }
    static constexpr bool isMarked(Index word) noexcept { return (word & mark) != 0; }
    static constexpr Index next(Index position) noexcept {
        return static_cast<Index>(position + one);
    }

    static constexpr Index advance(Index position, std::size_t count) noexcept {
        return static_cast<Index>(position + static_cast<Index>(count * one));
    }

    /// The number of messages from `head` up to `tail`.
    static constexpr std::size_t distance(Index head, Index tail) noexcept {
        return static_cast<std::size_t>(static_cast<Index>(tail - head) / one);
    }

    /// The mask for at(). `slots` is a power of two.
    static constexpr std::size_t maskFor(std::size_t slots) noexcept { return (slots - 1) * one; }

    /// The slot at a position. A position counts half slots, so one multiplication gives the byte
    /// offset, which saves a shift in each push and pop. Slots with an odd number of bytes need the
    /// shift.
    template <class Slot>
    static Slot& at(Slot* slots, Index position, std::size_t mask) noexcept {
        if constexpr (sizeof(Slot) % one == 0) {
            using Byte = std::conditional_t<std::is_const_v<Slot>, const std::byte, std::byte>;
            const auto offset = static_cast<std::size_t>(position & mask) * (sizeof(Slot) / one);
            return *reinterpret_cast<Slot*>(reinterpret_cast<Byte*>(slots) + offset);
        } else {
            return slots[(position & mask) / one];
        }
    }
};

}  // namespace sluice
