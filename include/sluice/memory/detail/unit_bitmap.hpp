#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// Tells which of `Count` equal units are taken, with a bit for each. All bits are zero at first,
/// so that a static map lies in .bss.
template <std::size_t Count>
class UnitBitmap {
public:
    constexpr UnitBitmap() noexcept = default;

    /// Whether the units [first, end) are all free.
    bool areFree(std::size_t first, std::size_t end) const noexcept {
        return nextTaken(first, end) == end;
    }

    void take(std::size_t first, std::size_t end) noexcept {
        forEachWord(first, end, [](Word& word, Word mask) { word |= mask; });
    }
    void release(std::size_t first, std::size_t end) noexcept {
        forEachWord(first, end, [](Word& word, Word mask) { word &= ~mask; });
    }

    /// The first unit of the lowest `units` free units in a row, or Count if there are none. Cost:
    /// at most two looks at each word and each gap.
    std::size_t find(std::size_t units) const noexcept {
        std::size_t first = nextFree(0);
        while (Count - first >= units) {
            const std::size_t end = nextTaken(first, first + units);
            if (end == first + units) {
                return first;
            }
            first = nextFree(end);
        }
        return Count;
    }

private:
    using Word = std::uint64_t;
    static constexpr std::size_t bits = 64;

    /// The first taken unit in [from, end), or `end`.
    std::size_t nextTaken(std::size_t from, std::size_t end) const noexcept {
        return nextSet(from, end, Word{0});
    }
    /// The first free unit from `from` on, or Count.
    std::size_t nextFree(std::size_t from) const noexcept { return nextSet(from, Count, ~Word{0}); }

    /// The first bit in [from, end) that differs from `background`, or `end`.
    std::size_t nextSet(std::size_t from, std::size_t end, Word background) const noexcept {
        Word ignored = (Word{1} << from % bits) - 1;
        for (std::size_t at = from - from % bits; at < end; at += bits) {
            const Word word = (words_[at / bits] ^ background) & ~ignored;
            if (word != 0) {
                return std::min(end, at + static_cast<std::size_t>(__builtin_ctzll(word)));
            }
            ignored = 0;
        }
        return end;
    }

    template <class Change>
    void forEachWord(std::size_t first, std::size_t end, Change change) noexcept {
        while (first < end) {
            const std::size_t count = std::min(end - first, bits - first % bits);
            const Word ones = ~Word{0} >> (bits - count);
            change(words_[first / bits], ones << first % bits);
            first += count;
        }
    }

    std::array<Word, (Count + bits - 1) / bits> words_{};
};

}  // namespace sluice::detail
