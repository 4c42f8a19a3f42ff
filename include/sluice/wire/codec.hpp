#pragma once

#include <sluice/wire/buffer.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/message_pack.hpp>
#include <sluice/wire/schema_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace sluice::wire {

/// Converts messages of type T to bytes and back. Bridges use a Codec for each message type.
///
///     wire::Codec<Order>::encode(order, buffer);
///     const auto error = wire::Codec<Order>::decode(bytes, size, received);
///
/// The default format is MessagePack: see encode() and decode(). Protobuf messages, which Codec
/// detects by their member functions, keep protobuf's format. Specialise Codec for another format,
/// such as FlatBuffers tables:
///
///     template <>
///     struct sluice::wire::Codec<Order> {
///         static bool encode(const Order& message, Buffer& buffer);
///         static DecodeError decode(const unsigned char* bytes, std::size_t size, Order& message);
///         static std::uint64_t schemaHash();
///     };
///
/// - encode() appends the message and must not throw. If the message does not fit, or if decode()
///   would refuse it, encode() returns false and leaves the buffer's size unchanged.
/// - decode() receives untrusted bytes, and refuses invalid bytes with DecodeError::foreignForm.
/// - schemaHash() identifies the type and must be the same in all programs. If Codec has `static
///   constexpr bool needsSameSchema = true`, a bridge refuses messages with another hash.
///
/// Thread safety: any thread may call the functions of a Codec, because they share no state.
template <class T, class = void>
struct Codec {
    static constexpr bool needsSameSchema = hasUnnamedFields<T>();
    static bool encode(const T& message, Buffer& buffer) { return wire::encode(message, buffer); }
    static DecodeError decode(const unsigned char* bytes, std::size_t size, T& message) {
        return wire::decode(bytes, size, message);
    }
    static std::uint64_t schemaHash() noexcept { return wire::schemaHash<T>(); }
};

namespace detail {

template <class T, class = void>
inline constexpr bool isProtobuf = false;
template <class T>
inline constexpr bool isProtobuf<
    T, std::void_t<decltype(std::declval<const T&>().ByteSizeLong(),
                            std::declval<const T&>().SerializeToArray(std::declval<void*>(), 0),
                            std::declval<T&>().ParseFromArray(std::declval<const void*>(), 0),
                            std::string(std::declval<const T&>().GetTypeName()))>> = true;

template <class C, class = void>
inline constexpr bool needsSameSchema = false;
template <class C>
inline constexpr bool needsSameSchema<C, std::void_t<decltype(C::needsSameSchema)>> =
    C::needsSameSchema;

}  // namespace detail

/// The codec of protobuf messages. Allocates memory only in protobuf's functions.
template <class T>
struct Codec<T, std::enable_if_t<detail::isProtobuf<T>>> {
    static bool encode(const T& message, Buffer& buffer) {
        const std::size_t before = buffer.size();
        const std::size_t size = message.ByteSizeLong();
        unsigned char* const bytes = size <= maxSize ? buffer.extend(size) : nullptr;
        if (bytes != nullptr && message.SerializeToArray(bytes, static_cast<int>(size))) {
            return true;
        }
        buffer.shrink(before);
        return false;
    }

    static DecodeError decode(const unsigned char* bytes, std::size_t size, T& message) {
        const bool isRead =
            size <= maxSize && message.ParseFromArray(bytes, static_cast<int>(size));
        return isRead ? DecodeError::none : DecodeError::foreignForm;
    }

    static std::uint64_t schemaHash() {
        std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
        for (const char c : std::string(T().GetTypeName())) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
        }
        return hash;
    }

private:
    static constexpr auto maxSize = static_cast<std::size_t>(std::numeric_limits<int>::max());
};

}  // namespace sluice::wire
