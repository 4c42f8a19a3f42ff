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

}  // namespace sluice::detail
