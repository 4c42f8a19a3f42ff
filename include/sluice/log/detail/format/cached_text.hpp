#pragma once

/// \file
/// Builds a line of a log from short texts and digits. The caller has made room for the line.
///
/// A copy may write up to `CachedText::slack` bytes beyond its end, so a short text of any size
/// costs one or two stores. The next text overwrites these bytes. Only CachedText allocates, for a
/// text that is not short.
///
/// Tests: tests/unit/log/pattern_formatter_test.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice::log::detail {

/// A text that changes seldom and is copied often.
class CachedText {
public:
    /// Bytes. The caller must leave this much room behind a copy.
    static constexpr std::size_t slack = 32;

    CachedText() = default;
    explicit CachedText(std::string_view text) { assign(text); }

    void assign(std::string_view text) {
        size_ = text.size();
        std::memcpy(start_, text.data(), size_ < slack ? size_ : slack);
        long_.assign(size_ > slack ? text : std::string_view{});
    }

    std::size_t size() const noexcept { return size_; }

    /// Copies the text and returns the end of the copy.
    char* copyTo(char* to) const noexcept {
        std::memcpy(to, start_, slack);
        if (size_ > slack) {
            std::memcpy(to, long_.data(), size_);
        }
        return to + size_;
    }

private:
    char start_[slack] = {};
    std::size_t size_ = 0;
    std::string long_;
};

/// Copies `size` bytes and returns the end of the copy. It does not read beyond the end of `from`.
inline char* copyText(char* to, const char* from, std::size_t size) noexcept {
    // Two loads of n bytes that may overlap copy any size from n to 2 n bytes.
    const auto twice = [&](auto part) {
        auto last = part;
        std::memcpy(&part, from, sizeof part);
        std::memcpy(&last, from + size - sizeof last, sizeof last);
        std::memcpy(to, &part, sizeof part);
        std::memcpy(to + size - sizeof last, &last, sizeof last);
    };
    if (size > 16) {
        std::memcpy(to, from, size);
    } else if (size >= 8) {
        twice(std::uint64_t{});
    } else if (size >= 4) {
        twice(std::uint32_t{});
    } else if (size >= 2) {
        twice(std::uint16_t{});
    } else if (size == 1) {
        *to = *from;
    }
    return to + size;
}

/// The texts "00" to "99", without separators.
inline constexpr auto digitPairs = [] {
    std::array<char, 200> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = static_cast<char>('0' + (i % 2 == 0 ? i / 20 : i / 2 % 10));
    }
    return pairs;
}();

/// Writes `value`, which has at most `Digits` digits, with leading zeros. Returns the end.
template <unsigned Digits>
char* putDigits(char* to, std::uint32_t value) noexcept {
    for (unsigned i = Digits; i >= 2; i -= 2) {
        std::memcpy(to + i - 2, &digitPairs[std::size_t{2} * (value % 100)], 2);
        value /= 100;
    }
    if (Digits % 2 != 0) {
        *to = static_cast<char>('0' + value);
    }
    return to + Digits;
}

}  // namespace sluice::log::detail
