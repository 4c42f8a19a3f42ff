#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice::wire::detail {

/// Whether there are eight bytes at this position, each a character.
[[nodiscard]] inline bool isAscii8(std::string_view text, std::size_t at) noexcept {
    constexpr std::uint64_t upperBits = 0x8080808080808080U;
    std::uint64_t bytes = upperBits;
    if (text.size() - at >= sizeof bytes) {
        std::memcpy(&bytes, text.data() + at, sizeof bytes);
    }
    return (bytes & upperBits) == 0;
}

/// True if the text is UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] inline bool isUtf8(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        if (isAscii8(text, at)) {
            at += 8;
            continue;
        }
        const auto first = static_cast<unsigned char>(text[at++]);
        if (first < 0x80) {
            continue;
        }
        const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || text.size() - at < more) {
            return false;
        }
        const auto second = static_cast<unsigned char>(text[at]);
        const unsigned lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        const unsigned highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (second < lowest || second > highest) {
            return false;
        }
        for (std::size_t i = 1; i < more; ++i) {
            if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) {
                return false;
            }
        }
        at += more;
    }
    return true;
}

}  // namespace sluice::wire::detail
