#pragma once

#include <sluice/base/assert.hpp>

#include <spdlog/common.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::log {

/// Makes SLUICE_LOG copy arguments of type T by their bytes:
///
///     template <>
///     struct sluice::log::copy_when_logging<Point> : std::true_type {};
///
/// T must be trivially copyable. The back end formats the copy later, so the formatter of T must
/// not follow pointers to data that may change or be destroyed.
///
/// SLUICE_LOG copies numbers, bool, char, enumerations, `void*`, strings, durations and time points
/// without copy_when_logging. If an argument is not copied, the calling thread formats the message.
template <class T>
struct copy_when_logging : std::false_type {};

template <class Rep, class Period>
struct copy_when_logging<std::chrono::duration<Rep, Period>> : std::is_trivially_copyable<Rep> {};

template <class Clock, class Duration>
struct copy_when_logging<std::chrono::time_point<Clock, Duration>> : copy_when_logging<Duration> {};

/// Makes SLUICE_LOG copy an argument that owns or refers to other memory:
///
///     template <>
///     struct sluice::log::argument_codec<Path> {
///         // The caller: the number of bytes for `path`, and a function that writes them.
///         static std::size_t size(const Path& path) noexcept;
///         static void write(std::byte* to, std::size_t size, const Path& path) noexcept;
///         // The back end: a value to format, of any type with a formatter that accepts the
///         // specifications of the format string. read() may refer to the bytes, and may throw.
///         static std::string_view read(const std::byte* from, std::size_t size);
///     };
///
/// The argument `to` of write() may have any alignment. A log call calls size() once, then write().
template <class T>
struct argument_codec;

namespace detail {

// ---- The encoding of a log call's arguments, without gaps or alignment. A codec encodes one type.
// Codec::Held keeps a string's size, so that Codec::size() and Codec::write() use the same size.

/// Decodes an object from the bytes at `from`, and advances `from`.
template <class T>
T readValue(const std::byte*& from) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    alignas(T) std::byte bytes[sizeof(T)];
    std::memcpy(bytes, from, sizeof(T));  // begins the lifetime of a trivially copyable T
    from += sizeof(T);
    return *std::launder(reinterpret_cast<const T*>(bytes));
}

template <class T>
std::byte* writeValue(std::byte* to, const T& value) noexcept {
    std::memcpy(to, &value, sizeof(T));
    return to + sizeof(T);
}

template <class T>
struct ValueCodec {
    static_assert(std::is_trivially_copyable_v<T>,
                  "copy_when_logging is for trivially copyable types: specialise argument_codec");

    using Held = const T&;
    using Decoded = T;

    static Held hold(const T& value) noexcept { return value; }
    static constexpr std::size_t size(Held) noexcept { return sizeof(T); }
    static std::byte* write(std::byte* to, Held value) noexcept { return writeValue(to, value); }
    static Decoded read(const std::byte*& from) noexcept { return readValue<T>(from); }
};

/// Encodes a text: first the size, then the characters.
struct TextCodec {
    using Held = std::string_view;
    using Decoded = std::string_view;

    template <class T>
    static Held hold(const T& text) noexcept {
        if constexpr (std::is_array_v<T>) {
            const void* const end = std::memchr(text, '\0', sizeof text);
            return {text, end == nullptr
                              ? sizeof text
                              : static_cast<std::size_t>(static_cast<const char*>(end) - text)};
        } else if constexpr (std::is_pointer_v<T>) {
            return text == nullptr ? std::string_view("(null)") : std::string_view(text);
        } else {
            return {text.data(), text.size()};
        }
    }
    static std::size_t size(Held text) noexcept { return sizeof(std::size_t) + text.size(); }
    static std::byte* write(std::byte* to, Held text) noexcept {
        to = writeValue(to, text.size());
        return reinterpret_cast<std::byte*>(
            std::copy(text.begin(), text.end(), reinterpret_cast<char*>(to)));
    }
    static Decoded read(const std::byte*& from) noexcept {
        const auto size = readValue<std::size_t>(from);
        const std::string_view text(reinterpret_cast<const char*>(from), size);
        from += size;
        return text;
    }
};

/// Encodes a T with the user's argument_codec<T>: first the size, then the bytes.
template <class T>
struct UserCodec {
    using Codec = argument_codec<T>;
    static_assert(
        noexcept(Codec::size(std::declval<const T&>())) && noexcept(
            Codec::write(nullptr, 0, std::declval<const T&>())),
        "size() and write() of an argument_codec must be noexcept: a record that was begun must "
        "be finished");

    struct Held {
        const T& value;
        std::size_t bytes;
    };
    using Decoded =
        std::decay_t<decltype(Codec::read(std::declval<const std::byte*>(), std::size_t{}))>;

    static Held hold(const T& value) noexcept { return {value, Codec::size(value)}; }
    static std::size_t size(Held held) noexcept { return sizeof held.bytes + held.bytes; }
    static std::byte* write(std::byte* to, Held held) noexcept {
        to = writeValue(to, held.bytes);
        Codec::write(to, held.bytes, held.value);
        return to + held.bytes;
    }
    static Decoded read(const std::byte*& from) {
        const auto size = readValue<std::size_t>(from);
        return Codec::read(std::exchange(from, from + size), size);
    }
};

struct NoCodec {};

template <class T>
inline constexpr bool isText = false;
template <>
inline constexpr bool isText<char*> = true;
template <>
inline constexpr bool isText<const char*> = true;
template <std::size_t N>
inline constexpr bool isText<char[N]> = true;
template <class Traits, class Allocator>
inline constexpr bool isText<std::basic_string<char, Traits, Allocator>> = true;
template <class Traits>
inline constexpr bool isText<std::basic_string_view<char, Traits>> = true;
#if !defined(SPDLOG_USE_STD_FORMAT)
template <>
inline constexpr bool isText<spdlog::string_view_t> = true;
#endif

template <class T>
inline constexpr bool isPlainValue =
    !std::is_volatile_v<T> &&
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_null_pointer_v<T> ||
     std::is_same_v<T, void*> || std::is_same_v<T, const void*> || copy_when_logging<T>::value);

template <class T, class = void>
inline constexpr bool hasUserCodec = false;
template <class T>
inline constexpr bool hasUserCodec<T, std::void_t<decltype(sizeof(argument_codec<T>))>> = true;

template <class T>
using CodecOfType = std::conditional_t<
    hasUserCodec<T>, UserCodec<T>,
    std::conditional_t<isText<T>, TextCodec,
                       std::conditional_t<isPlainValue<T>, ValueCodec<T>, NoCodec>>>;

template <class Argument>
using CodecOf = CodecOfType<std::remove_const_t<std::remove_reference_t<Argument>>>;

template <class Argument>
inline constexpr bool isCopied = !std::is_same_v<CodecOf<Argument>, NoCodec>;

/// Encodes the arguments of a log call. The arguments must outlive the ArgumentWriter.
template <class... Codecs>
class ArgumentWriter {
public:
    template <class... Arguments>
    explicit ArgumentWriter(const Arguments&... arguments) noexcept
        : held_(Codecs::hold(arguments)...) {}

    [[nodiscard]] std::size_t size() const noexcept {
        return std::apply(
            [](const auto&... held) { return (std::size_t{0} + ... + Codecs::size(held)); }, held_);
    }

    /// Writes exactly size() bytes.
    void write(std::byte* to) const noexcept {
        std::apply([to](const auto&... held) mutable { ((to = Codecs::write(to, held)), ...); },
                   held_);
    }

private:
    std::tuple<typename Codecs::Held...> held_;
};

/// Decodes what an ArgumentWriter wrote. Views in the result refer to the bytes at `from`.
template <class... Codecs>
std::tuple<typename Codecs::Decoded...> decodeArguments(const std::byte* from, std::size_t size) {
    const std::byte* const begin = from;
    // Braces guarantee that the codecs read from left to right.
    std::tuple<typename Codecs::Decoded...> values{Codecs::read(from)...};
    SLUICE_ASSERT(from == begin + size, "an argument_codec whose size() and write() disagree");
    static_cast<void>(begin);
    static_cast<void>(size);
    return values;
}

}  // namespace detail

}  // namespace sluice::log
