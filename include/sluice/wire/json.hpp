#pragma once

#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/detail/kinds.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sluice::wire {

namespace detail {

/// Returns the value as a JSON document that keeps the order of the fields.
template <class T>
[[nodiscard]] nlohmann::ordered_json jsonOf(const T& v) {
    if constexpr (std::is_enum_v<T>) {
        return jsonOf(static_cast<std::underlying_type_t<T>>(v));
    } else if constexpr (isFloat<T>) {
        return std::isfinite(v) ? nlohmann::ordered_json(v) : nlohmann::ordered_json();
    } else if constexpr (isInteger<T>) {
        return v;
    } else if constexpr (isString<T>) {
        return std::string(v.data(), v.size());
    } else if constexpr (isOptional<T>) {
        return v ? jsonOf(*v) : nlohmann::ordered_json();
    } else if constexpr (isSequence<T> || isArray<T>) {
        auto items = nlohmann::ordered_json::array();
        for (auto item = v.begin(); item != v.end(); ++item) {
            items.push_back(jsonOf<typename T::value_type>(*item));
        }
        return items;
    } else {
        auto object = nlohmann::ordered_json::object();
        forEachField(v, [&](std::string_view name, const auto& member) {
            object.emplace(std::string(name), jsonOf(member));
        });
        return object;
    }
}

using Json = nlohmann::json;

template <class T>
[[nodiscard]] DecodeError readJson(const Json& from, T& v, unsigned depth = 0);

template <class T>
[[nodiscard]] DecodeError readJsonInteger(const Json& from, T& v) {
    if (from.is_number_unsigned()) {
        const auto number = from.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
            return DecodeError::outOfRange;
        }
        v = static_cast<T>(number);
        return DecodeError::none;
    }
    if (!from.is_number_integer()) {
        return DecodeError::wrongType;
    }
    const auto number = from.get<std::int64_t>();  // a negative number, or 0 for `-0`
    if (number < static_cast<std::int64_t>(std::numeric_limits<T>::min())) {
        return DecodeError::outOfRange;
    }
    v = static_cast<T>(number);
    return DecodeError::none;
}

template <class T>
[[nodiscard]] DecodeError readJsonFloat(const Json& from, T& v) {
    if (from.is_null()) {
        v = std::numeric_limits<T>::quiet_NaN();
        return DecodeError::none;
    }
    if (!from.is_number()) {
        return DecodeError::wrongType;
    }
    v = static_cast<T>(from.get<double>());
    return std::isfinite(v) ? DecodeError::none : DecodeError::outOfRange;
}

template <class T>
[[nodiscard]] DecodeError readJsonText(const Json& from, T& v) {
    const auto* const text = from.get_ptr<const std::string*>();
    if (text == nullptr) {
        return DecodeError::wrongType;
    }
    if constexpr (std::is_same_v<T, std::string>) {
        v = *text;
    } else if (!v.assign(std::string_view(*text))) {
        return DecodeError::tooLong;
    }
    return DecodeError::none;
}

template <class T>
[[nodiscard]] DecodeError readJsonItems(const Json& from, T& items, unsigned depth) {
    if (!from.is_array()) {
        return DecodeError::wrongType;
    }
    if constexpr (isArray<T>) {
        if (from.size() != items.size()) {
            return DecodeError::wrongLength;
        }
        std::size_t index = 0;
        for (auto& item : items) {
            const auto error = readJson(from[index++], item, depth + 1);
            if (error != DecodeError::none) {
                return error;
            }
        }
    } else {
        items.clear();
        for (const Json& each : from) {
            typename T::value_type item{};
            if (const auto error = readJson(each, item, depth + 1); error != DecodeError::none) {
                return error;
            }
            if constexpr (!isFixedVector<T>) {
                items.push_back(std::move(item));
            } else if (!items.pushBack(std::move(item))) {
                return DecodeError::tooLong;
            }
        }
    }
    return DecodeError::none;
}

template <class T>
[[nodiscard]] DecodeError readJsonObject(const Json& from, T& object, unsigned depth) {
    if (!from.is_object()) {
        return DecodeError::wrongType;
    }
    auto error = DecodeError::none;
    bool isKnown = from.empty() || depth != 0;
    forEachField(object, [&](std::string_view name, auto& member) {
        const auto found = error == DecodeError::none ? from.find(std::string(name)) : from.end();
        if (found != from.end()) {
            isKnown = true;
            error = readJson(*found, member, depth + 1);
        }
    });
    return error == DecodeError::none && !isKnown ? DecodeError::noKnownField : error;
}

template <class T>
DecodeError readJson(const Json& from, T& v, unsigned depth) {
    if constexpr (isOptional<T>) {
        if (from.is_null()) {
            v.reset();
            return DecodeError::none;
        }
        return readJson(from, v ? *v : v.emplace(), depth);
    } else if constexpr (std::is_same_v<T, bool>) {
        if (!from.is_boolean()) {
            return DecodeError::wrongType;
        }
        v = from.get<bool>();
        return DecodeError::none;
    } else if constexpr (std::is_enum_v<T>) {
        std::underlying_type_t<T> number{};
        const auto error = readJson(from, number, depth);
        v = error == DecodeError::none ? enumOf<T>(number) : v;
        return error;
    } else if constexpr (isInteger<T>) {
        return readJsonInteger(from, v);
    } else if constexpr (isFloat<T>) {
        return readJsonFloat(from, v);
    } else if constexpr (isString<T>) {
        return readJsonText(from, v);
    } else if (depth >= maxDepth) {
        return DecodeError::tooDeep;
    } else if constexpr (isSequence<T> || isArray<T>) {
        return readJsonItems(from, v, depth);
    } else {
        return readJsonObject(from, v, depth);
    }
}

}  // namespace detail

/// Returns the message as a JSON object on one line, for logs, tools and other languages.
/// MessagePack is smaller and faster than JSON. Needs nlohmann-json: link sluice::wire_json.
///
///     const std::string text = wire::toJson(Reading{7, 21.5, "roof"});
///     Reading reading;
///     if (wire::fromJson(text, reading) != wire::DecodeError::none) { ... }
///
/// Enums are written as numbers, and empty optionals, infinity and NaN as null. Bytes that are not
/// UTF-8 become replacement characters.
///
/// Thread safety: any thread may call toJson(). Errors: may throw std::bad_alloc.
template <class T>
[[nodiscard]] std::string toJson(const T& message) {
    return detail::jsonOf(message).dump(-1, ' ', false,
                                        nlohmann::ordered_json::error_handler_t::replace);
}

/// Reads a message from untrusted JSON by the rules of decode(). Limit the text's size, because
/// parsing needs many times that amount of memory. The last value of a repeated field counts. For a
/// float or double, null means NaN. Fields that T lacks may be nested to any depth.
template <class T>
[[nodiscard]] DecodeError fromJson(std::string_view text, T& message) {
    const bool hasNul = text.find('\0') != std::string_view::npos;  // the parser stops at a NUL
    const auto document = nlohmann::json::parse(hasNul ? std::string_view() : text, nullptr, false);
    return document.is_discarded() ? DecodeError::notJson : detail::readJson(document, message);
}

}  // namespace sluice::wire
