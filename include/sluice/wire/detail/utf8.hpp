#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::wire::detail {

/// True if the text is UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] inline bool isUtf8(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
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
