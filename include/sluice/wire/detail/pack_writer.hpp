#pragma once

#include <sluice/wire/buffer.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/detail/kinds.hpp>
#include <sluice/wire/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace sluice::wire::detail {

/// Writes values as MessagePack. Each function returns false if the buffer is full. value() also
/// returns false for a value that PackReader would refuse: a text that is not UTF-8, or nesting
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
    /// Writes one byte of type, then `size` bytes of the number, the highest byte first.
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

}  // namespace sluice::wire::detail
