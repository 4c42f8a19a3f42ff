#pragma once

/// \file
/// Writes any bytes as a JSON string.
///
/// Tests: tests/unit/log/json_formatter_test.cpp.

#include <spdlog/common.h>

#include <cstddef>
#include <string_view>

namespace sluice::log::detail {

/// Appends a control character as \n, \t, or \u00XX.
inline void appendEscape(spdlog::memory_buf_t& to, unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    to.push_back('\\');
    switch (byte) {
    case '\n':
        to.push_back('n');
        return;
    case '\r':
        to.push_back('r');
        return;
    case '\t':
        to.push_back('t');
        return;
    default:
        break;
    }
    constexpr std::string_view begin = "u00";
    to.append(begin.data(), begin.data() + begin.size());
    to.push_back(digits[byte >> 4U]);
    to.push_back(digits[byte & 0xFU]);
}

/// Returns the number of bytes of the UTF-8 character at the front of the text. 0 if the text does
/// not begin with one: an overlong form, half of a surrogate pair, a number beyond U+10FFFF, or a
/// part of a character.
inline std::size_t utf8Length(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto isIn = [](unsigned byte, unsigned least, unsigned most) {
        return byte >= least && byte <= most;
    };
    const auto follows = [&](std::size_t i) { return isIn(at(i), 0x80, 0xBF); };
    const unsigned lead = at(0);
    if (lead < 0x80) {
        return text.empty() ? 0 : 1;
    }
    if (isIn(lead, 0xC2, 0xDF)) {
        return follows(1) ? 2 : 0;
    }
    if (isIn(lead, 0xE0, 0xEF)) {
        const unsigned least = lead == 0xE0 ? 0xA0U : 0x80U;
        const unsigned most = lead == 0xED ? 0x9FU : 0xBFU;
        return isIn(at(1), least, most) && follows(2) ? 3 : 0;
    }
    if (isIn(lead, 0xF0, 0xF4)) {
        const unsigned least = lead == 0xF0 ? 0x90U : 0x80U;
        const unsigned most = lead == 0xF4 ? 0x8FU : 0xBFU;
        return isIn(at(1), least, most) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// Appends the text as a JSON string, with its quotes. Each byte that is not UTF-8 becomes U+FFFD.
inline void appendJson(spdlog::memory_buf_t& to, std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    to.push_back('"');
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t length = utf8Length(text);
        if (c == '"' || c == '\\') {
            to.push_back('\\');
            to.push_back(c);
        } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
            appendEscape(to, static_cast<unsigned char>(c));
        } else if (length == 0) {
            to.append(replacement.data(), replacement.data() + replacement.size());
        } else {
            to.append(text.data(), text.data() + length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    to.push_back('"');
}

}  // namespace sluice::log::detail
