#pragma once

/// \file
/// Uses a block as its owner would, because untouched memory costs nothing.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sluice::bench {

/// Touches the first and the last word of each line of a block. Above 4 KiB, it touches them in
/// each page.
template <std::size_t Bytes>
class Touch {
    using Word = std::conditional_t<(Bytes >= 8), std::uint64_t, std::uint8_t>;
    static constexpr std::size_t stretch = Bytes > 4096 ? 4096 : 64;
    static constexpr std::size_t step = Bytes < stretch ? Bytes : stretch;
    static_assert(Bytes % step == 0 && step % sizeof(Word) == 0);
    static constexpr std::size_t perStep = step > sizeof(Word) ? 2 : 1;

public:
    // For large blocks, all subjects use one function. Otherwise the compiler could unroll an
    // inlined loop differently for each subject.

    static void write(std::byte* block, std::uint64_t value) noexcept {
        if constexpr (Bytes <= stretch) {
            writeAll(block, value);
        } else {
            writeApart(block, value);
        }
    }

    /// The sum of all words that write() has written.
    static std::uint64_t read(const std::byte* block) noexcept {
        if constexpr (Bytes <= stretch) {
            return readAll(block);
        } else {
            return readApart(block);
        }
    }

    /// The result of read() if no other code has written.
    static std::uint64_t expected(std::uint64_t value) noexcept {
        return static_cast<Word>(value) * std::uint64_t{Bytes / step * perStep};
    }

private:
    [[gnu::noinline]] static void writeApart(std::byte* block, std::uint64_t value) noexcept {
        writeAll(block, value);
    }
    [[gnu::noinline]] static std::uint64_t readApart(const std::byte* block) noexcept {
        return readAll(block);
    }

    static void writeAll(std::byte* block, std::uint64_t value) noexcept {
        const auto word = static_cast<Word>(value);
        for (std::size_t at = 0; at < Bytes; at += step) {
            std::memcpy(block + at, &word, sizeof word);
            std::memcpy(block + at + step - sizeof word, &word, sizeof word);
        }
    }

    static std::uint64_t readAll(const std::byte* block) noexcept {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < Bytes; at += step) {
            sum +=
                wordAt(block + at) + (perStep > 1 ? wordAt(block + at + step - sizeof(Word)) : 0);
        }
        return sum;
    }

    static std::uint64_t wordAt(const std::byte* place) noexcept {
        Word word;
        std::memcpy(&word, place, sizeof word);
        return word;
    }
};

/// Makes the compiler assume that other code reads and changes the block. So it can neither remove
/// an allocation nor read its own last write.
inline void hide(std::byte* block) noexcept {
    asm volatile("" : : "r"(block) : "memory");
}

}  // namespace sluice::bench
