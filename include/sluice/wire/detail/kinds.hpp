#pragma once

#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace sluice::wire::detail {

/// True for integers that MessagePack supports. Tests the size, because std::is_integral_v is also
/// true for 128-bit integers with g++'s extensions.
template <class T>
inline constexpr bool isInteger = std::is_integral_v<T> && sizeof(T) <= 8;

/// True for the floating-point types of MessagePack, in which a long double would lose digits.
template <class T>
inline constexpr bool isFloat = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
inline constexpr bool isString = false;
template <>
inline constexpr bool isString<std::string> = true;
template <std::size_t N>
inline constexpr bool isString<FixedString<N>> = true;

/// A sequence of variable length.
template <class T>
inline constexpr bool isSequence = false;
template <class T, class Allocator>
inline constexpr bool isSequence<std::vector<T, Allocator>> = true;
template <class T, std::size_t N>
inline constexpr bool isSequence<FixedVector<T, N>> = true;

template <class T>
inline constexpr bool isFixedVector = false;
template <class T, std::size_t N>
inline constexpr bool isFixedVector<FixedVector<T, N>> = true;

template <class T>
inline constexpr bool isArray = false;
template <class T, std::size_t N>
inline constexpr bool isArray<std::array<T, N>> = true;

template <class T>
inline constexpr bool isOptional = false;
template <class T>
constexpr bool holdsNoOptional() noexcept {
    static_assert(!isOptional<T>, "an optional must not hold an optional: the bytes of both are "
                                  "the same when they are empty");
    return true;
}
template <class T>
inline constexpr bool isOptional<std::optional<T>> = holdsNoOptional<T>();

template <class T, class = void>
inline constexpr bool hasFixedType = false;
template <class T>
inline constexpr bool hasFixedType<T, std::void_t<decltype(T{std::underlying_type_t<T>()})>> = true;

/// Casts a received number, which may be no enumerator of T.
template <class T>
[[nodiscard]] constexpr T enumOf(std::underlying_type_t<T> number) noexcept {
    static_assert(hasFixedType<T>, "wire: write the enum's type, as in `enum Colour : int`");
    return static_cast<T>(number);
}

/// The maximum nesting depth of maps and arrays.
inline constexpr unsigned maxDepth = 32;

}  // namespace sluice::wire::detail
