#pragma once

#include <sluice/bus/messages.hpp>
#include <sluice/bus/static_component.hpp>

#include <type_traits>
#include <utility>
#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace sluice::detail {

/// Whether Derived has a public `handle` for each message.
template <class Derived, class Header, class MessageList>
inline constexpr bool handlesAll = false;
template <class Derived, class Header, class... Ts>
inline constexpr bool handlesAll<Derived, Header, Messages<Ts...>> =
    ((handles<Derived, const Ts&> || handles<Derived, const Ts&, const Header&>)&&...);

template <class Derived, class = void>
inline constexpr bool hasRestart = false;
template <class Derived>
inline constexpr bool
    hasRestart<Derived, std::void_t<decltype(std::declval<Derived&>().restart())>> = true;

#if defined(__cpp_exceptions)
template <class Derived, class = void>
inline constexpr bool hasHandlerFailed = false;
template <class Derived>
inline constexpr bool
    hasHandlerFailed<Derived, std::void_t<decltype(std::declval<Derived&>().handlerFailed(
                                  std::declval<std::exception_ptr>()))>> = true;
#endif

}  // namespace sluice::detail
