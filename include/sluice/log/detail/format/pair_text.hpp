#pragma once

/// \file
/// Prints pairs: as ` key=value` for text sinks, and as members of a JSON object.
///
/// Tests: tests/unit/log/key_value_test.cpp, json_formatter_test.cpp.

#include <sluice/log/detail/format/json_text.hpp>
#include <sluice/log/detail/format/pair_codec.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <variant>

namespace sluice::log::detail {

inline void appendText(spdlog::memory_buf_t& to, std::string_view text) {
    to.append(text.data(), text.data() + text.size());
}

template <class T>
void appendNumber(spdlog::memory_buf_t& to, T value) {
    spdlog::fmt_lib::format_to(std::back_inserter(to), "{}", value);
}

/// Whether a text needs quotes. Without them a reader would not find its end.
inline bool needsQuotes(std::string_view text) noexcept {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= ' ' || byte == 0x7F || c == '"' || c == '=' || c == '\\') {
            return true;
        }
    }
    return text.empty();
}

/// Appends a text in quotes, on one line. Bytes that are not ASCII are copied unchanged.
inline void appendQuoted(spdlog::memory_buf_t& to, std::string_view text) {
    to.push_back('"');
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            to.push_back('\\');
            to.push_back(c);
        } else if (byte < ' ' || byte == 0x7F) {
            appendEscape(to, byte);
        } else {
            to.push_back(c);
        }
    }
    to.push_back('"');
}

/// Appends ` key=value` for each pair.
inline void printPairs(PairBytes pairs, spdlog::memory_buf_t& to) {
    const auto printText = [&to](std::string_view text) {
        needsQuotes(text) ? appendQuoted(to, text) : appendText(to, text);
    };
    forEachPair(pairs, [&](const key_value& pair) {
        to.push_back(' ');
        printText(pair.key());
        to.push_back('=');
        std::visit(
            [&](auto value) {
                using T = decltype(value);
                if constexpr (std::is_same_v<T, std::string_view>) {
                    printText(value);
                } else if constexpr (std::is_null_pointer_v<T>) {
                    appendText(to, "null");
                } else {
                    appendNumber(to, value);  // a bool becomes true or false
                }
            },
            pair.value());
    });
}

/// Appends `"key":value,...`, the members of an object. A number that is infinite or not a number
/// becomes `null`, because JSON has no such number.
inline void printJsonMembers(PairBytes pairs, spdlog::memory_buf_t& to) {
    bool isFirst = true;
    forEachPair(pairs, [&](const key_value& pair) {
        if (!isFirst) {
            to.push_back(',');
        }
        isFirst = false;
        appendJson(to, pair.key());
        to.push_back(':');
        std::visit(
            [&](auto value) {
                using T = decltype(value);
                if constexpr (std::is_same_v<T, std::string_view>) {
                    appendJson(to, value);
                } else if constexpr (std::is_null_pointer_v<T>) {
                    appendText(to, "null");
                } else if constexpr (std::is_floating_point_v<T>) {
                    std::isfinite(value) ? appendNumber(to, value) : appendText(to, "null");
                } else {
                    appendNumber(to, value);
                }
            },
            pair.value());
    });
}

}  // namespace sluice::log::detail
