#pragma once

#include <sluice/log/copy_when_logging.hpp>
#include <sluice/log/detail/format/record_head.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::log {

/// A field of a log record: a key and a value, made by kv().
///
///     SLUICE_LOG_INFO(logger, "order done", kv("order", 17), kv("ms", 1.5));
///     // text sinks print: order done order=17 ms=1.5
///
/// Text sinks print fields after the message. A json_formatter prints fields in the JSON object
/// "fields". Values are numbers, bool, char, enumerations (as numbers), strings and `nullptr`; a
/// null `char*` prints as `null`. A key_value does not copy texts, so use it only as an argument of
/// a log call or scoped_context.
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
key_value::value_type fieldValue(const T& value) noexcept {
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
        // The unary plus makes enumerations over char or bool print as numbers.
        return fieldValue(+static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(std::int64_t)) {
        using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        return Value(static_cast<Wide>(value));
    } else {
        static_assert(
            sizeof(T) == 0,
            "a key_value holds numbers, bool, char, enumerations and strings: format this "
            "value into a string");
    }
}

// An encoded field is the index of the value's type (1 byte), the key and the value, without gaps.

template <class T>
using FieldCodec =
    std::conditional_t<std::is_same_v<T, std::string_view>, TextCodec, ValueCodec<T>>;

inline std::size_t sizeOfField(const key_value& field) noexcept {
    const std::size_t value = std::visit(
        [](const auto& held) { return FieldCodec<std::decay_t<decltype(held)>>::size(held); },
        field.value());
    return 1 + TextCodec::size(field.key()) + value;
}

inline std::byte* writeField(std::byte* to, const key_value& field) noexcept {
    *to++ = static_cast<std::byte>(field.value().index());
    to = TextCodec::write(to, field.key());
    return std::visit(
        [to](const auto& held) {
            return FieldCodec<std::decay_t<decltype(held)>>::write(to, held);
        },
        field.value());
}

inline std::size_t sizeOfFields(FieldList fields) noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < fields.count; ++i) {
        size += sizeOfField(fields.first[i]);
    }
    return size;
}

inline std::byte* writeFields(std::byte* to, FieldList fields) noexcept {
    for (std::size_t i = 0; i < fields.count; ++i) {
        to = writeField(to, fields.first[i]);
    }
    return to;
}

template <std::size_t Index = 0>
key_value::value_type readFieldValue(std::size_t index, const std::byte*& from) noexcept {
    using Value = key_value::value_type;
    if constexpr (Index < std::variant_size_v<Value>) {
        using T = std::variant_alternative_t<Index, Value>;
        return index == Index ? Value(std::in_place_index<Index>, FieldCodec<T>::read(from))
                              : readFieldValue<Index + 1>(index, from);
    } else {
        return nullptr;
    }
}

/// Calls visit(const key_value&) for each encoded field, whose texts refer to the encoded bytes.
template <class Visit>
void forEachField(FieldBytes fields, Visit&& visit) {
    const std::byte* from = fields.bytes;
    const std::byte* const end = from + fields.size;
    while (from != end) {
        const auto index = static_cast<std::size_t>(*from++);
        const std::string_view key = TextCodec::read(from);
        visit(key_value(key, readFieldValue(index, from)));
    }
}

}  // namespace detail

/// Returns a field. key_value lists the possible types of `value`.
template <class T>
key_value kv(std::string_view key, const T& value) noexcept {
    return {key, detail::fieldValue(value)};
}

/// A guard that adds context fields to all records that its thread logs while the guard exists.
///
///     const sluice::log::scoped_context context(kv("request", id), kv("user", name));
///     logger->info("begins");   // begins request=17 user=ann
///     handle();                 // records of this thread have the same fields
///
/// A scoped_context copies keys and values. Text sinks print context fields before the log call's
/// fields. A json_formatter prints context fields in the object "context", with the thread's spdlog
/// mdc. A field of an inner scope hides an outer field with the same key. Create a scoped_context
/// on the stack. Context fields are printed only by async_loggers, and never in backtraces.
class scoped_context {
public:
    template <class... Fields>
    explicit scoped_context(const key_value& first, const Fields&... others)
        : scoped_context(std::array<key_value, 1 + sizeof...(Fields)>{first, others...}) {}

    ~scoped_context() { detail::CallerState::setContext(before_); }
    scoped_context(const scoped_context&) = delete;
    scoped_context& operator=(const scoped_context&) = delete;

private:
    template <std::size_t N>
    explicit scoped_context(const std::array<key_value, N>& fields) {
        const detail::FieldList mine{fields.data(), N};
        const detail::FieldBytes outer = detail::CallerState::context();
        bytes_.resize(outer.size + detail::sizeOfFields(mine));
        std::byte* end = bytes_.data();
        detail::forEachField(outer, [&](const key_value& field) {
            const bool isHidden =
                std::any_of(fields.begin(), fields.end(),
                            [&](const key_value& one) { return one.key() == field.key(); });
            end = isHidden ? end : detail::writeField(end, field);
        });
        end = detail::writeFields(end, mine);
        view_ = {bytes_.data(), static_cast<std::size_t>(end - bytes_.data())};
        before_ = detail::CallerState::setContext(&view_);
    }

    std::vector<std::byte> bytes_;
    detail::FieldBytes view_;
    const detail::FieldBytes* before_ = nullptr;
};

namespace detail {

// ---- The path of a record's fields: from the thread into the lane, then into the text or JSON

/// Encodes all fields of a record: a Prefix, the context with the mdc, and the log call's fields.
class FieldWriter {
public:
    /// The sizes in bytes of the two parts after the Prefix.
    struct Prefix {
        std::size_t context;
        std::size_t fields;
    };

    [[gnu::cold]] FieldWriter() noexcept
        : context_(CallerState::context()),
          fields_(CallerState::setFields({})),
          mdc_(CallerState::mdc()),
          sizes_{context_.size, sizeOfFields(fields_)} {
        if (mdc_ != nullptr) {
            for (const auto& [key, value] : *mdc_) {
                sizes_.context += sizeOfField(kv(key, value));
            }
        }
    }

    std::size_t size() const noexcept { return sizeof sizes_ + sizes_.context + sizes_.fields; }

    /// Writes size() bytes at `to`, and returns the end of these bytes.
    [[gnu::cold]] std::byte* write(std::byte* to) const noexcept {
        to = writeValue(to, sizes_);
        if (mdc_ != nullptr) {
            for (const auto& [key, value] : *mdc_) {
                to = writeField(to, kv(key, value));
            }
        }
        if (context_.size != 0) {
            std::memcpy(to, context_.bytes, context_.size);
        }
        return writeFields(to + context_.size, fields_);
    }

private:
    FieldBytes context_;
    FieldList fields_;
    const ThreadMdc::Map* mdc_;
    Prefix sizes_;
};

inline void appendText(spdlog::memory_buf_t& to, std::string_view text) {
    to.append(text.data(), text.data() + text.size());
}

template <class T>
void appendNumber(spdlog::memory_buf_t& to, T value) {
    spdlog::fmt_lib::format_to(std::back_inserter(to), "{}", value);
}

/// Appends a control character as \n, \r, \t, or \u00XX.
inline void appendEscape(spdlog::memory_buf_t& to, unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (byte) {
    case '\n':
        return appendText(to, "\\n");
    case '\r':
        return appendText(to, "\\r");
    case '\t':
        return appendText(to, "\\t");
    default:
        appendText(to, "\\u00");
        to.push_back(digits[byte >> 4U]);
        to.push_back(digits[byte & 0xFU]);
    }
}

/// Appends a key or text, with line breaks escaped. Quotes a text that is empty or has spaces or
/// special characters. Non-ASCII bytes stay unchanged.
inline void appendFieldText(spdlog::memory_buf_t& to, std::string_view text) {
    const auto isSpecial = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= ' ' || byte == 0x7F || c == '"' || c == '=' || c == '\\';
    };
    if (!text.empty() && std::none_of(text.begin(), text.end(), isSpecial)) {
        appendText(to, text);
        return;
    }
    to.push_back('"');
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < ' ' || byte == 0x7F) {
            appendEscape(to, byte);
            continue;
        }
        if (c == '"' || c == '\\') {
            to.push_back('\\');
        }
        to.push_back(c);
    }
    to.push_back('"');
}

inline void printFields(FieldBytes fields, spdlog::memory_buf_t& to) {
    forEachField(fields, [&](const key_value& field) {
        to.push_back(' ');
        appendFieldText(to, field.key());
        to.push_back('=');
        std::visit(
            [&](auto value) {
                using T = decltype(value);
                if constexpr (std::is_same_v<T, std::string_view>) {
                    appendFieldText(to, value);
                } else if constexpr (std::is_null_pointer_v<T>) {
                    appendText(to, "null");
                } else {
                    appendNumber(to, value);  // prints a bool as true or false
                }
            },
            field.value());
    });
}

/// The fields of a message. `payload` is the message's text, followed by the printed fields.
struct MessageFields {
    spdlog::string_view_t payload;
    std::size_t textSize;  ///< bytes of `payload` without the printed fields
    FieldBytes context;
    FieldBytes fields;
};

/// Finds the fields of a message by the address of its payload, because spdlog's messages have no
/// member for fields. A copied message's fields are not found, because its payload has moved.
class CurrentFields {
public:
    /// The payloads of the messages must have ascending addresses and must not be empty.
    CurrentFields(const MessageFields* first, std::size_t count) noexcept
        : first_(first), count_(count), before_(top_) {
        top_ = this;
    }
    ~CurrentFields() { top_ = before_; }
    CurrentFields(const CurrentFields&) = delete;
    CurrentFields& operator=(const CurrentFields&) = delete;

    /// Returns null for a message without fields.
    static const MessageFields* find(spdlog::string_view_t payload) noexcept {
        for (const CurrentFields* scope = top_; scope != nullptr; scope = scope->before_) {
            const MessageFields* const end = scope->first_ + scope->count_;
            const MessageFields* const found = std::lower_bound(
                scope->first_, end, payload.data(), [](const MessageFields& one, const char* data) {
                    return std::less<>()(one.payload.data(), data);
                });
            if (found != end && found->payload.data() == payload.data() &&
                found->payload.size() == payload.size()) {
                return found;
            }
        }
        return nullptr;
    }

private:
    const MessageFields* const first_;
    const std::size_t count_;
    const CurrentFields* const before_;

    /// The innermost CurrentFields of the thread; one variable for all shared libraries.
    [[gnu::visibility("default")]] inline static thread_local const CurrentFields* top_ = nullptr;
};

}  // namespace detail

}  // namespace sluice::log
