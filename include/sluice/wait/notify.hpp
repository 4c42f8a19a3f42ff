#pragma once

#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class Wait, class = void>
inline constexpr bool canNotifyOne = false;
template <class Wait>
inline constexpr bool canNotifyOne<Wait, std::void_t<decltype(std::declval<Wait&>().notifyOne())>> =
    true;

}  // namespace detail

/// Wakes one of the threads that wait for the same thing. A wait strategy without notifyOne() wakes
/// all of them.
template <class Wait>
void notifyOneOf(Wait& wait) noexcept {
    if constexpr (detail::canNotifyOne<Wait>) {
        wait.notifyOne();
    } else {
        wait.notifyAll();
    }
}

}  // namespace sluice
