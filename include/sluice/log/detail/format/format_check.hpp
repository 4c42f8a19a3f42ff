#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::log::detail {

/// The faults of a format string that this header finds. It does not read the specifications of the
/// fields. The formatting library checks the whole string; this check comes first and describes a
/// common fault in one line.
enum class FormatFault : unsigned char { none, brace, name, tooFew };

/// Reads the number at `at` and moves `at` behind it. A number above 1,000,000 may be cut, but it
/// stays larger than the number of any argument.
constexpr std::size_t readNumber(std::string_view format, std::size_t& at) noexcept {
    std::size_t number = 0;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
        const auto digit = static_cast<std::size_t>(format[at++] - '0');
        number = number < 1'000'000 ? number * 10 + digit : number;
    }
    return number;
}

/// Moves `at` behind the closing brace of a field. The field began before `at`. False if it has no
/// closing brace. Braces inside the field are fields for width or precision; the formatting library
/// checks them.
constexpr bool skipField(std::string_view format, std::size_t& at) noexcept {
    for (std::size_t open = 1; open != 0; ++at) {
        if (at == format.size()) {
            return false;
        }
        open += format[at] == '{' ? 1U : 0U;
        open -= format[at] == '}' ? 1U : 0U;
    }
    return true;
}

/// Returns the first fault of a format string. `arguments` is the number of arguments of the call.
constexpr FormatFault findFault(std::string_view format, std::size_t arguments) noexcept {
    std::size_t automatic = 0;
    for (std::size_t at = 0; at < format.size();) {
        const char letter = format[at++];
        if (letter != '{' && letter != '}') {
            continue;
        }
        const char next = at < format.size() ? format[at] : '\0';
        if (next == letter) {
            ++at;
            continue;
        }
        if (letter == '}') {
            return FormatFault::brace;
        }
        if (next != '}' && next != ':' && (next < '0' || next > '9')) {
            return next == '\0' ? FormatFault::brace : FormatFault::name;
        }
        const bool isNumbered = next >= '0' && next <= '9';
        if ((isNumbered ? readNumber(format, at) : automatic++) >= arguments) {
            return FormatFault::tooFew;
        }
        if (!skipField(format, at)) {
            return FormatFault::brace;
        }
    }
    return FormatFault::none;
}

}  // namespace sluice::log::detail
