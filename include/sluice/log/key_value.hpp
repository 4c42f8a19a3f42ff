#pragma once

/// \file
/// kv(key, value): a named value in a log call.
///
///     SLUICE_LOG_INFO(logger, "order done", kv("order", 17), kv("ms", 1.5));
///     sluice::log::with(logger, kv("order", 17)).info("order done in {} ms", 1.5);
///     // text sinks print: order done order=17 ms=1.5
///
/// Text sinks print the pairs behind the message, as ` key=value`. A json_formatter prints them as
/// members of an object.
///
/// - Values are numbers, bool, char, enumerations (as numbers), strings and `nullptr`. Format any
///   other value into a string first.
/// - A null `char*` is printed as `null`.
/// - A key_value refers to the characters of its key and its text. Use it only as an argument of
///   the log call.
///
/// Cost: a log call copies the key and the value into the lane of its thread.
///
/// Tests: tests/unit/log/key_value_test.cpp.

#include <sluice/log/detail/format/argument_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

namespace sluice::log {

/// A key and a value. kv() makes it.
class key_value {
public:
    using value_type = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, float,
                                    double, std::string_view>;

    key_value(std::string_view key, value_type value) noexcept : key_(key), value_(value) {}

    std::string_view key() const noexcept { return key_; }
    const value_type& value() const noexcept { return value_; }

private:
    std::string_view key_;
    value_type value_;
};

namespace detail {

template <class T>
inline constexpr bool isAlwaysRefused = false;

/// Converts a value to one of the types of key_value::value_type.
template <class T>
key_value::value_type pairValue(const T& value) noexcept {
    using Value = key_value::value_type;
    if constexpr (isText<T> && std::is_pointer_v<T>) {
        return value == nullptr ? Value(nullptr) : Value(TextCodec::hold(value));
    } else if constexpr (isText<T>) {
        return TextCodec::hold(value);
    } else if constexpr (std::is_same_v<T, char>) {
        return std::string_view(&value, 1);
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float> ||
                         std::is_null_pointer_v<T>) {
        return value;
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<double>(value);
    } else if constexpr (std::is_enum_v<T>) {
        // Promoted: a char would be text that is gone, and a bool would be true or false.
        return pairValue(+static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(std::int64_t)) {
        using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        return Value(static_cast<Wide>(value));
    } else {
        static_assert(
            isAlwaysRefused<T>,
            "a key_value holds numbers, bool, char, enumerations and strings: format this "
            "value into a string");
    }
}

}  // namespace detail

/// A pair for one log call. See key_value.hpp for the types of `value`.
template <class T>
key_value kv(std::string_view key, const T& value) noexcept {
    return {key, detail::pairValue(value)};
}

}  // namespace sluice::log
