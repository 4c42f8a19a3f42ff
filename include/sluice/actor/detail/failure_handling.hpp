#pragma once

#include <sluice/actor/actor_traits.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/bus/messages.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace sluice::detail {

template <class Derived, class Function, class = void>
inline constexpr bool hasHandle = false;
template <class Derived, class Function>
inline constexpr bool
    hasHandle<Derived, Function, std::void_t<decltype(static_cast<Function>(&Derived::handle))>> =
        true;

template <class Derived, class... Args>
inline constexpr bool handles = hasHandle<Derived, void (Derived::*)(Args...)> ||
                                hasHandle<Derived, void (Derived::*)(Args...) const>;

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

template <class Derived>
void notifyFailure(Derived& object) noexcept {
    if constexpr (hasHandlerFailed<Derived>) {
        constexpr bool isNoexcept = noexcept(object.handlerFailed(std::current_exception()));
        static_assert(isNoexcept, "`handlerFailed(std::exception_ptr)` must be noexcept");
        object.handlerFailed(std::current_exception());
    }
}
#endif

template <class Derived, class = void>
inline constexpr bool hasEndedFunction = false;
template <class Derived>
inline constexpr bool
    hasEndedFunction<Derived, std::void_t<decltype(std::declval<Derived&>().ended())>> = true;

template <class Derived>
void notifyEnd(Derived& object) noexcept {
    if constexpr (hasEndedFunction<Derived>) {
        static_assert(noexcept(object.ended()), "`ended()` must be noexcept");
        object.ended();
    }
}

template <class Derived, class T, class Header>
void callHandler(Derived& object, const T& message, const Header& header) {
    if constexpr (handles<Derived, const T&, const Header&>) {
        object.handle(message, header);
    } else {
        object.handle(message);
    }
}

/// Limits the restarts of one object. Only the object's thread calls take().
template <class Traits>
class RestartBudget {
    using TimePoint = typename Traits::Platform::Clock::time_point;
    static_assert(Traits::restartBackOff >= std::chrono::nanoseconds::zero() &&
                      Traits::maxRestartBackOff >= Traits::restartBackOff,
                  "restartBackOff must be at least 0 and at most maxRestartBackOff");
    static_assert(Traits::restartLimit <= 1000,
                  "restartLimit is at most 1,000: the object remembers so many times");

public:
    /// Counts a restart and returns its delay, or nullopt if restartLimit is reached.
    std::optional<std::chrono::nanoseconds> take(TimePoint now) {
        unsigned recent = 0;
        auto wait = Traits::restartBackOff;
        const auto kept = std::min<std::uint64_t>(taken_, Traits::restartLimit);
        for (std::size_t i = 0; i < kept; ++i) {
            if (now - times_[i] < Traits::restartPeriod) {
                ++recent;
                // Compares with half of maxRestartBackOff, because doubling could overflow.
                wait = wait > Traits::maxRestartBackOff / 2 ? Traits::maxRestartBackOff : wait * 2;
            }
        }
        if (recent == Traits::restartLimit) {
            return std::nullopt;
        }
        times_[taken_++ % times_.size()] = now;
        return wait;
    }

private:
    /// The times of the last restartLimit restarts.
    std::array<TimePoint, std::max(Traits::restartLimit, 1U)> times_{};
    std::uint64_t taken_ = 0;
};

}  // namespace sluice::detail
