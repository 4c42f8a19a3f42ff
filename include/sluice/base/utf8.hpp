#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice {

[[nodiscard]] inline bool isAscii(std::string_view text) noexcept {
    constexpr std::uint64_t upperBits = 0x8080808080808080U;
    std::uint64_t all = 0;
    std::size_t at = 0;
    for (; text.size() - at >= sizeof all; at += sizeof all) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + at, sizeof bytes);
        all |= bytes;
    }
    for (; at != text.size(); ++at) {
        all |= static_cast<unsigned char>(text[at]);
    }
    return (all & upperBits) == 0;
}

/// Returns the size of the UTF-8 character at `at`, 1 to 4 bytes. Returns 0 for invalid UTF-8: an
/// overlong form, a surrogate, or a number above U+10FFFF.
[[nodiscard]] constexpr std::size_t characterSize(std::string_view text, std::size_t at) noexcept {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() - at < size) {
        return 0;
    }
    const auto second = static_cast<unsigned char>(text[at + 1]);
    const unsigned lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (second < lowest || second > highest) {
        return 0;
    }
    for (std::size_t i = 2; i < size; ++i) {
        if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return size;
}

[[nodiscard]] constexpr bool isUtf8(std::string_view text) noexcept {
    // isAscii() calls std::memcpy, which constant evaluation forbids. `isConstant` is not const,
    // because a compiler may evaluate a const variable's initialiser at compile time.
    bool isConstant = __builtin_is_constant_evaluated();
    if (!isConstant && isAscii(text)) {
        return true;
    }
    for (std::size_t at = 0; at < text.size();) {
        const bool areEight = !isConstant && text.size() - at >= 8 && isAscii(text.substr(at, 8));
        const std::size_t size = areEight ? 8 : characterSize(text, at);
        if (size == 0) {
            return false;
        }
        at += size;
    }
    return true;
}

}  // namespace sluice
