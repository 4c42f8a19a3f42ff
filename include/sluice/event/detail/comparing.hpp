#pragma once

#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class T, class = void>
inline constexpr bool hasEqual = false;
template <class T>
inline constexpr bool
    hasEqual<T, std::enable_if_t<std::is_convertible_v<
                    decltype(std::declval<const T&>() == std::declval<const T&>()), bool>>> = true;

template <class T, class = void>
inline constexpr bool hasLess = false;
template <class T>
inline constexpr bool
    hasLess<T, std::enable_if_t<std::is_convertible_v<
                   decltype(std::declval<const T&>() < std::declval<const T&>()), bool>>> = true;

/// Values of a type without == count as equal. Values of a type without < count as not less.
template <class T>
constexpr bool equalIfComparable(const T& a, const T& b) {
    if constexpr (hasEqual<T>) {
        return a == b;
    } else {
        return true;
    }
}

template <class T>
constexpr bool lessIfComparable(const T& a, const T& b) {
    if constexpr (hasLess<T>) {
        return a < b;
    } else {
        return false;
    }
}

}  // namespace sluice::detail
