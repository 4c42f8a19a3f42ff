#pragma once

#include <sluice/base/utf8.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/detail/kinds.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sluice::wire::detail {

/// Writes values as MessagePack. Each function returns false if the buffer is full. value() also
/// returns false for a value that PackReader refuses: a text that is not UTF-8, or values nested
/// deeper than maxDepth.
class PackWriter {
public:
    explicit PackWriter(Buffer& buffer) noexcept : buffer_(buffer) {}

    template <class T>
    [[nodiscard]] bool value(const T& v, unsigned depth = 0) {
        if constexpr (std::is_same_v<T, bool>) {
            return head(v ? 0xC3 : 0xC2, 0, 0);
        } else if constexpr (std::is_enum_v<T>) {
            return value(static_cast<std::underlying_type_t<T>>(v));
        } else if constexpr (isInteger<T>) {
            return integer(v);
        } else if constexpr (std::is_same_v<T, float>) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &v, sizeof bits);
            return head(0xCA, bits, 4);
        } else if constexpr (std::is_same_v<T, double>) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &v, sizeof bits);
            return head(0xCB, bits, 8);
        } else if constexpr (isString<T>) {
            const std::string_view view(v.data(), v.size());
            return isUtf8(view) && text(view);
        } else if constexpr (isOptional<T>) {
            return v ? value(*v, depth) : head(0xC0, 0, 0);
        } else if constexpr (isSequence<T> || isArray<T>) {
            return depth < maxDepth && sequence(v, depth);
        } else {
            return depth < maxDepth && map(v, depth);
        }
    }

private:
    /// Writes the type byte, and then the number as `size` bytes in big-endian order.
    [[nodiscard]] bool head(unsigned type, std::uint64_t number, unsigned size) noexcept {
        unsigned char bytes[9] = {static_cast<unsigned char>(type)};
        for (unsigned i = 0; i < size; ++i) {
            bytes[1 + i] = static_cast<unsigned char>((number >> (8 * (size - 1 - i))) & 0xFFU);
        }
        return buffer_.append(bytes, 1 + size);
    }

    template <class T>
    [[nodiscard]] bool integer(T v) noexcept {
        if constexpr (std::is_signed_v<T>) {
            if (v < 0) {
                const std::int64_t wide = v;
                const auto bits = static_cast<std::uint64_t>(wide);
                if (wide >= -32) {
                    return head(static_cast<unsigned>(bits & 0xFFU), 0, 0);
                }
                return wide >= std::numeric_limits<std::int8_t>::min()    ? head(0xD0, bits, 1)
                       : wide >= std::numeric_limits<std::int16_t>::min() ? head(0xD1, bits, 2)
                       : wide >= std::numeric_limits<std::int32_t>::min() ? head(0xD2, bits, 4)
                                                                          : head(0xD3, bits, 8);
            }
        }
        const auto bits = static_cast<std::uint64_t>(v);
        return bits < 0x80           ? head(static_cast<unsigned>(bits), 0, 0)
               : bits <= 0xFF        ? head(0xCC, bits, 1)
               : bits <= 0xFFFF      ? head(0xCD, bits, 2)
               : bits <= 0xFFFFFFFFU ? head(0xCE, bits, 4)
                                     : head(0xCF, bits, 8);
    }

    [[nodiscard]] bool text(std::string_view v) noexcept {
        const std::size_t size = v.size();
        if (size > 0xFFFFFFFFU) {
            return false;
        }
        const bool begun = size < 32        ? head(0xA0U | static_cast<unsigned>(size), 0, 0)
                           : size <= 0xFF   ? head(0xD9, size, 1)
                           : size <= 0xFFFF ? head(0xDA, size, 2)
                                            : head(0xDB, size, 4);
        return begun && buffer_.append(v.data(), size);
    }

    template <class T>
    [[nodiscard]] bool sequence(const T& items, unsigned depth) {
        const std::size_t size = items.size();
        if (size > 0xFFFFFFFFU) {
            return false;
        }
        bool fits = size < 16        ? head(0x90U | static_cast<unsigned>(size), 0, 0)
                    : size <= 0xFFFF ? head(0xDC, size, 2)
                                     : head(0xDD, size, 4);
        for (auto item = items.begin(); fits && item != items.end(); ++item) {
            fits = value<typename T::value_type>(*item, depth + 1);
        }
        return fits;
    }

    template <class T>
    [[nodiscard]] bool map(const T& object, unsigned depth) {
        constexpr std::size_t count = fieldCountOf<T>();
        bool fits =
            count < 16 ? head(0x80U | static_cast<unsigned>(count), 0, 0) : head(0xDE, count, 2);
        forEachField(object, [&](std::string_view name, const auto& member) {
            fits = fits && text(name) && value(member, depth + 1);
        });
        return fits;
    }

    Buffer& buffer_;
};

/// Reads MessagePack from an untrusted sender. Never reads beyond `size` bytes. Allocates no
/// element before reading the bytes of that element, so a false length does not allocate memory.
class PackReader {
public:
    PackReader(const unsigned char* bytes, std::size_t size) noexcept : at_(bytes), left_(size) {}

    [[nodiscard]] bool atEnd() const noexcept { return left_ == 0; }

    template <class T>
    [[nodiscard]] DecodeError value(T& v, unsigned depth = 0) {
        if constexpr (isOptional<T>) {
            return optional(v, depth);
        } else {
            Head head;
            if (const auto error = read(head); error != DecodeError::none) {
                return error;
            }
            if constexpr (std::is_enum_v<T>) {
                std::underlying_type_t<T> number{};
                const auto error = integer(head, number);
                v = enumOf<T>(number);
                return error;
            } else if constexpr (isInteger<T>) {
                return integer(head, v);
            } else if constexpr (isFloat<T>) {
                return floating(head, v);
            } else if constexpr (isString<T>) {
                return string(head, v);
            } else if (depth >= maxDepth) {
                return DecodeError::tooDeep;
            } else if constexpr (isSequence<T>) {
                return sequence(head, v, depth);
            } else if constexpr (isArray<T>) {
                return array(head, v, depth);
            } else {
                return map(head, v, depth);
            }
        }
    }

private:
    enum class Kind : std::uint8_t {
        nil,
        boolean,
        natural,
        negative,
        f32,
        f64,
        text,
        binary,
        array,
        map
    };

    /// The first part of a value. `number` is the value, its bits or its length, depending on
    /// `kind`.
    struct Head {
        Kind kind = Kind::nil;
        std::uint64_t number = 0;
    };

    /// Reads the head of the next value.
    [[nodiscard]] DecodeError read(Head& head) noexcept {
        if (left_ == 0) {
            return DecodeError::truncated;
        }
        const unsigned type = *at_;
        advance(1);
        if (type < 0x80) {
            head = {Kind::natural, type};
        } else if (type < 0x90) {
            head = {Kind::map, type & 0x0FU};
        } else if (type < 0xA0) {
            head = {Kind::array, type & 0x0FU};
        } else if (type < 0xC0) {
            head = {Kind::text, type & 0x1FU};
        } else if (type >= 0xE0) {
            head = {Kind::negative, type | ~std::uint64_t{0xFF}};
        } else {
            return readLong(type, head);
        }
        return DecodeError::none;
    }

    /// Reads the rest of a head whose type byte is 0xC0 to 0xDF.
    [[nodiscard]] DecodeError readLong(unsigned type, Head& head) noexcept {
        switch (type) {
        case 0xC0:
            head = {Kind::nil, 0};
            return DecodeError::none;
        case 0xC2:
            head = {Kind::boolean, 0};
            return DecodeError::none;
        case 0xC3:
            head = {Kind::boolean, 1};
            return DecodeError::none;
        case 0xC4:
            return number(head, Kind::binary, 1);
        case 0xC5:
            return number(head, Kind::binary, 2);
        case 0xC6:
            return number(head, Kind::binary, 4);
        case 0xC7:
            return extension(head, 1);
        case 0xC8:
            return extension(head, 2);
        case 0xC9:
            return extension(head, 4);
        case 0xCA:
            return number(head, Kind::f32, 4);
        case 0xCB:
            return number(head, Kind::f64, 8);
        case 0xCC:
            return number(head, Kind::natural, 1);
        case 0xCD:
            return number(head, Kind::natural, 2);
        case 0xCE:
            return number(head, Kind::natural, 4);
        case 0xCF:
            return number(head, Kind::natural, 8);
        case 0xD0:
            return signedNumber(head, 1);
        case 0xD1:
            return signedNumber(head, 2);
        case 0xD2:
            return signedNumber(head, 4);
        case 0xD3:
            return signedNumber(head, 8);
        case 0xD9:
            return number(head, Kind::text, 1);
        case 0xDA:
            return number(head, Kind::text, 2);
        case 0xDB:
            return number(head, Kind::text, 4);
        case 0xDC:
            return number(head, Kind::array, 2);
        case 0xDD:
            return number(head, Kind::array, 4);
        case 0xDE:
            return number(head, Kind::map, 2);
        case 0xDF:
            return number(head, Kind::map, 4);
        case 0xC1:
            return DecodeError::wrongType;
        default:  // 0xD4 to 0xD8: an extension type and 1, 2, 4, 8 or 16 bytes
            head = {Kind::binary, (std::uint64_t{1} << (type - 0xD4U)) + 1};
            return DecodeError::none;
        }
    }

    /// Reads a number of `size` bytes in big-endian order.
    [[nodiscard]] DecodeError number(Head& head, Kind kind, unsigned size) noexcept {
        if (left_ < size) {
            return DecodeError::truncated;
        }
        head = {kind, 0};
        for (unsigned i = 0; i < size; ++i) {
            head.number = (head.number << 8U) | at_[i];
        }
        advance(size);
        return DecodeError::none;
    }

    /// Reads the head of an extension, whose type byte and content are skipped like binary data.
    [[nodiscard]] DecodeError extension(Head& head, unsigned size) noexcept {
        const auto error = number(head, Kind::binary, size);
        ++head.number;
        return error;
    }

    [[nodiscard]] DecodeError signedNumber(Head& head, unsigned size) noexcept {
        const auto error = number(head, Kind::natural, size);
        const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
        if ((head.number & sign) != 0) {
            head = {Kind::negative, head.number | ~(sign - 1)};
        }
        return error;
    }

    [[nodiscard]] static DecodeError integer(const Head& head, bool& v) noexcept {
        v = head.number != 0;
        return head.kind == Kind::boolean ? DecodeError::none : DecodeError::wrongType;
    }

    template <class T>
    [[nodiscard]] static DecodeError integer(const Head& head, T& v) noexcept {
        if (head.kind == Kind::natural) {
            if (head.number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
                return DecodeError::outOfRange;
            }
            v = static_cast<T>(head.number);
            return DecodeError::none;
        }
        if (head.kind != Kind::negative) {
            return DecodeError::wrongType;
        }
        if constexpr (std::is_signed_v<T>) {
            const auto wide = static_cast<std::int64_t>(head.number);
            if (wide >= std::numeric_limits<T>::min()) {
                v = static_cast<T>(wide);
                return DecodeError::none;
            }
        }
        return DecodeError::outOfRange;
    }

    template <class T>
    [[nodiscard]] static DecodeError floating(const Head& head, T& v) noexcept {
        if (head.kind == Kind::natural || head.kind == Kind::negative) {
            v = head.kind == Kind::natural ? static_cast<T>(head.number)
                                           : static_cast<T>(static_cast<std::int64_t>(head.number));
            return DecodeError::none;
        }
        if (head.kind == Kind::f32) {
            const auto bits = static_cast<std::uint32_t>(head.number);
            float f = 0;
            std::memcpy(&f, &bits, sizeof f);
            v = f;
            return DecodeError::none;
        }
        if constexpr (std::is_same_v<T, double>) {
            if (head.kind == Kind::f64) {
                std::memcpy(&v, &head.number, sizeof v);
                return DecodeError::none;
            }
        }
        return DecodeError::wrongType;
    }

    [[nodiscard]] DecodeError text(const Head& head, std::string_view& v) noexcept {
        if (head.kind != Kind::text) {
            return DecodeError::wrongType;
        }
        if (head.number > left_) {
            return DecodeError::truncated;
        }
        v = std::string_view(reinterpret_cast<const char*>(at_),
                             static_cast<std::size_t>(head.number));
        advance(v.size());
        return isUtf8(v) ? DecodeError::none : DecodeError::invalidUtf8;
    }

    template <class T>
    [[nodiscard]] DecodeError string(const Head& head, T& v) {
        std::string_view read;
        if (const auto error = text(head, read); error != DecodeError::none) {
            return error;
        }
        if constexpr (std::is_same_v<T, std::string>) {
            v.assign(read);
        } else if (!v.assign(read)) {
            return DecodeError::tooLong;
        }
        return DecodeError::none;
    }

    template <class T>
    [[nodiscard]] DecodeError optional(T& v, unsigned depth) {
        if (left_ != 0 && *at_ == 0xC0) {
            advance(1);
            v.reset();
            return DecodeError::none;
        }
        return value(v ? *v : v.emplace(), depth);
    }

    template <class T>
    [[nodiscard]] DecodeError sequence(const Head& head, T& items, unsigned depth) {
        if (head.kind != Kind::array) {
            return DecodeError::wrongType;
        }
        items.clear();
        for (std::uint64_t i = 0; i < head.number; ++i) {
            typename T::value_type item{};
            if (const auto error = value(item, depth + 1); error != DecodeError::none) {
                return error;
            }
            if constexpr (isFixedVector<T>) {
                if (!items.pushBack(std::move(item))) {
                    return DecodeError::tooLong;
                }
            } else {
                items.push_back(std::move(item));
            }
        }
        return DecodeError::none;
    }

    template <class T>
    [[nodiscard]] DecodeError array(const Head& head, T& items, unsigned depth) {
        if (head.kind != Kind::array) {
            return DecodeError::wrongType;
        }
        if (head.number != items.size()) {
            return DecodeError::wrongLength;
        }
        for (auto& item : items) {
            if (const auto error = value(item, depth + 1); error != DecodeError::none) {
                return error;
            }
        }
        return DecodeError::none;
    }

    template <class T>
    [[nodiscard]] DecodeError map(const Head& head, T& object, unsigned depth) {
        if (head.kind != Kind::map) {
            return DecodeError::wrongType;
        }
        std::uint64_t seen = 0;
        for (std::uint64_t i = 0; i < head.number; ++i) {
            Head key;
            std::string_view name;
            auto error = read(key);
            error = error == DecodeError::none ? text(key, name) : error;
            error = error == DecodeError::none ? member(name, object, seen, depth) : error;
            if (error != DecodeError::none) {
                return error;
            }
        }
        const bool isForeign = depth == 0 && head.number != 0 && seen == 0;
        return isForeign ? DecodeError::noKnownField : DecodeError::none;
    }

    /// Reads the value of `key` into the field with the name `key`. `seen` has one bit for each
    /// field that has been read.
    template <class T>
    [[nodiscard]] DecodeError member(std::string_view key, T& object, std::uint64_t& seen,
                                     unsigned depth) {
        DecodeError error = DecodeError::none;
        std::uint64_t bit = 1;
        bool found = false;
        forEachField(object, [&](std::string_view name, auto& v) {
            if (!found && name == key) {
                found = true;
                error = (seen & bit) != 0 ? DecodeError::duplicateKey : value(v, depth + 1);
                seen |= bit;
            }
            bit <<= 1U;
        });
        return found ? error : skip(depth + 1);
    }

    /// Skips the next value, which belongs to a field that T lacks.
    [[nodiscard]] DecodeError skip(unsigned depth) noexcept {
        Head head;
        if (const auto error = read(head); error != DecodeError::none) {
            return error;
        }
        if (head.kind == Kind::text || head.kind == Kind::binary) {
            if (head.number > left_) {
                return DecodeError::truncated;
            }
            advance(static_cast<std::size_t>(head.number));
        }
        if (head.kind != Kind::array && head.kind != Kind::map) {
            return DecodeError::none;
        }
        if (depth >= maxDepth) {
            return DecodeError::tooDeep;
        }
        const std::uint64_t values = head.kind == Kind::map ? 2 * head.number : head.number;
        for (std::uint64_t i = 0; i < values; ++i) {
            if (const auto error = skip(depth + 1); error != DecodeError::none) {
                return error;
            }
        }
        return DecodeError::none;
    }

    void advance(std::size_t count) noexcept {
        at_ += count;
        left_ -= count;
    }

    const unsigned char* at_;
    std::size_t left_;
};

}  // namespace sluice::wire::detail

namespace sluice::wire {

/// Appends the message to the buffer as a MessagePack map from field names to values.
///
///     std::array<unsigned char, 256> memory;
///     wire::Buffer buffer(memory.data(), memory.size());
///     const bool fits = wire::encode(Reading{7, 21.5}, buffer);
///     Reading received;
///     const auto error = wire::decode(buffer.data(), buffer.size(), received);
///
/// Returns false and sets buffer.hasOverflowed() if the message does not fit. Also returns false
/// for a message that decode() refuses: a text is not UTF-8, or maps and sequences are nested more
/// than 32 deep. If encode() returns false, the buffer's size is unchanged. Does not allocate.
///
/// Thread safety: only one thread at a time may use the buffer and the message.
template <class T>
[[nodiscard]] bool encode(const T& message, Buffer& buffer) {
    const std::size_t before = buffer.size();
    if (detail::PackWriter(buffer).value(message)) {
        return true;
    }
    buffer.shrink(before);
    return false;
}

/// Reads a message from untrusted bytes.
///
/// - A field missing from the bytes keeps its value in `message`, even inside an optional. Fields
///   that T lacks are skipped, but a message that has only unknown fields is refused.
/// - A float or double accepts a whole number, because some encoders write 1.0 as 1.
/// - An enum accepts every number of its underlying type, so the caller must check for numbers that
///   are no enumerator.
/// - After an error, `message` is valid, and some of its fields may have changed.
/// - Only std::string and std::vector allocate, and only for elements that have been read. Elements
///   may be much larger than their encoding; use a FixedVector to limit their number.
template <class T>
[[nodiscard]] DecodeError decode(const unsigned char* bytes, std::size_t size, T& message) {
    detail::PackReader reader(bytes, size);
    const DecodeError error = reader.value(message);
    return error != DecodeError::none || reader.atEnd() ? error : DecodeError::trailingBytes;
}

}  // namespace sluice::wire
