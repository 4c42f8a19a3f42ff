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

/// Turns messages of type T into bytes, and bytes into messages. A bridge uses it for each type.
///
///     wire::Codec<Order>::encode(order, buffer);
///     const auto error = wire::Codec<Order>::decode(bytes, size, received);
///
/// - Most types use MessagePack: see encode() and decode().
/// - Messages of protobuf use their own form. The codec recognises them by their functions, and
///   needs no header of protobuf.
/// - For another form, for example the tables of FlatBuffers, specialise Codec for the type:
///
///     template <>
///     struct sluice::wire::Codec<Order> {
///         static bool encode(const Order& message, Buffer& buffer);
///         static DecodeError decode(const unsigned char* bytes, std::size_t size, Order& message);
///         static std::uint64_t schemaHash();
///     };
///
/// A specialisation keeps these rules:
///
/// - encode() appends the message to the buffer. It returns false if the message does not fit, or
///   if decode() would refuse the message. Then it leaves the size of the buffer unchanged. It must
///   not throw.
/// - decode() gets untrusted bytes. If it refuses them, it returns DecodeError::foreignForm.
/// - schemaHash() identifies the type. It must be the same in all programs.
/// - A codec may have `static constexpr bool needsSameSchema = true`. Then a bridge refuses
///   messages from a program with another schemaHash().
///
/// Threads: any thread may call the functions; different calls share nothing.
///
/// Tests: tests/unit/wire/codec_test.cpp.
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

/// The codec of protobuf's messages. It allocates whatever protobuf allocates.
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
