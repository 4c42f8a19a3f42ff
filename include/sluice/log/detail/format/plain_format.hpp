#pragma once

/// \file
/// Prints formats that have only text and fields `{}`, as most formats do. It does not use the
/// parser of the formatting library. It takes less than half of the library's instructions, and its
/// output is the same.

#include <spdlog/common.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#if !defined(SPDLOG_USE_STD_FORMAT)

namespace sluice::log::detail {

/// Whether a checked format has only text and fields `{}`. A format that prints a brace is not
/// plain.
constexpr bool isPlainFormat(std::string_view format) noexcept {
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] == '}' || (format[at] == '{' && format[++at] != '}')) {
            return false;
        }
    }
    return true;
}

/// Appends the text that `{}` prints for a value.
template <class T>
void appendPlain(spdlog::memory_buf_t& to, T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
        to.append(value.data(), value.data() + value.size());
    } else if constexpr (std::is_same_v<T, char>) {
        to.push_back(value);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                         sizeof(T) <= sizeof(long long)) {
        const fmt::format_int digits(+value);
        to.append(digits.data(), digits.data() + digits.size());
    } else {
        fmt::vformat_to(fmt::appender(to), "{}", fmt::make_format_args(value));
    }
}

/// Writes a plain format, field by field.
class PlainPrinter {
public:
    PlainPrinter(spdlog::string_view_t format, spdlog::memory_buf_t& to) noexcept
        : from_(format.data()), end_(format.data() + format.size()), to_(to) {}

    /// Appends the text before the next field, then the value. If there is no further field, it
    /// appends nothing.
    template <class T>
    void append(T& value) {
        const auto* const field = static_cast<const char*>(
            std::memchr(from_, '{', static_cast<std::size_t>(end_ - from_)));
        if (field != nullptr) {
            to_.append(from_, field);
            from_ = field + 2;
            appendPlain(to_, value);
        }
    }

    /// Appends the text behind the last field.
    void finish() { to_.append(from_, end_); }

private:
    const char* from_;
    const char* const end_;
    spdlog::memory_buf_t& to_;
};

}  // namespace sluice::log::detail

#endif
