#pragma once

/// \file
/// The path of a record's fields: from the thread into the lane, then into the text, or to a
/// formatter that prints them in its own form.

#include <sluice/log/fields.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace sluice::log::detail {

/// Writes all fields of a record: a Prefix, the mdc, the context, the fields of the call.
class FieldWriter {
public:
    /// The sizes of the three parts that follow, in bytes.
    struct Prefix {
        std::size_t mdc;
        std::size_t context;
        std::size_t fields;
    };

    /// Takes the thread's mdc, context and fields.
    [[gnu::cold]] FieldWriter() noexcept
        : context_(CallerState::context()),
          fields_(CallerState::setFields({})),
          mdc_(CallerState::mdc()),
          sizes_{0, context_.size, sizeOfFields(fields_)} {
        if (mdc_ != nullptr) {
            for (const auto& [key, value] : *mdc_) {
                sizes_.mdc += sizeOfField(kv(key, value));
            }
        }
    }

    std::size_t size() const noexcept {
        return sizeof sizes_ + sizes_.mdc + sizes_.context + sizes_.fields;
    }

    /// Writes size() bytes. Returns their end.
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

/// Sets the thread's mdc to that of a log call while it lives, for spdlog's formatters.
class ScopedMdc {
public:
    /// The values of `fields` are texts. After bad_alloc the mdc is empty.
    explicit ScopedMdc(FieldBytes fields) noexcept : mdc_(ThreadMdc::find()) {
        if (mdc_ != nullptr) {
            mdc_->swap(other_);
            fill(fields);
        }
    }
    ~ScopedMdc() {
        if (mdc_ != nullptr) {
            mdc_->swap(other_);
        }
    }
    ScopedMdc(const ScopedMdc&) = delete;
    ScopedMdc& operator=(const ScopedMdc&) = delete;

private:
    void fill(FieldBytes fields) noexcept {
        try {
            forEachField(fields, [this](const key_value& field) {
                (*mdc_)[std::string(field.key())] = std::get<std::string_view>(field.value());
            });
        } catch (const std::bad_alloc&) {
            mdc_->clear();
        }
    }

    ThreadMdc::Map* const mdc_;
    ThreadMdc::Map other_;
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

/// Appends a key or text on one line, in quotes if its end would be ambiguous. Bytes that are not
/// ASCII stay unchanged.
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

/// Appends ` key=value` for each field.
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
                    appendNumber(to, value);  // a bool becomes true or false
                }
            },
            field.value());
    });
}

/// A message whose payload is its text, followed by the text of its fields.
struct MessageFields {
    spdlog::string_view_t payload;
    std::size_t textSize;  ///< bytes of the payload without the fields
    FieldBytes context;
    FieldBytes fields;
};

/// Lets formatters find the fields of a message by the address of its payload, because spdlog's
/// messages have no place for fields. A copied message has only the text.
class CurrentFields {
public:
    /// Payloads must have ascending addresses and must not be empty.
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

    /// The innermost object of this thread, shared by all shared libraries.
    [[gnu::visibility("default")]] inline static thread_local const CurrentFields* top_ = nullptr;
};

}  // namespace sluice::log::detail
