#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/accounts.hpp>
#include <sluice/bus/detail/envelope.hpp>
#include <sluice/bus/detail/pressure_gauge.hpp>
#include <sluice/bus/detail/ring_store.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/detail/time_keeper.hpp>
#include <sluice/bus/message_header.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class Observer, class = void>
inline constexpr bool observesFailures = false;
template <class Observer>
inline constexpr bool
    observesFailures<Observer, std::void_t<decltype(std::declval<Observer&>().handlerFailed(
                                   std::size_t{}, std::declval<std::exception_ptr>()))>> = true;

/// Whether an observer has members of these names, be they of use or not. Overloads and templates
/// have no single address: they count if they are of use.
template <class Observer, class = void>
inline constexpr bool namesFailures = observesFailures<Observer>;
template <class Observer>
inline constexpr bool namesFailures<Observer, std::void_t<decltype(&Observer::handlerFailed)>> =
    true;
template <class Observer, class = void>
inline constexpr bool namesPressure = observesPressure<Observer>;
template <class Observer>
inline constexpr bool namesPressure<Observer, std::void_t<decltype(&Observer::pressureChanged)>> =
    true;

/// Refuses traits that cannot work. A function: a class that refuses leaves compilers without its
/// members, and tells of each.
template <class MessageList, class Traits>
constexpr bool areChecked() noexcept {
    static_assert(Traits::depth >= 2, "the depth of a bus must be at least 2");
    static_assert(MessageList::maxSize <= Traits::maxMessageSize,
                  "a message is larger than maxMessageSize of the traits: carry large contents "
                  "through a BufferPool, or raise the limit");
    static_assert(Traits::weights[0] != 0 && Traits::weights[1] != 0 && Traits::weights[2] != 0,
                  "weights of the traits must be at least 1");
    static_assert(Traits::maxHandlers != 0, "maxHandlers of the traits must be at least 1");
    static_assert(Traits::priorities || !canDrop<Traits>(),
                  "a bus without priorities is a bare ring, which cannot drop messages");
    static_assert(!canDrop<Traits>() || Traits::producers == Producers::many,
                  "dropOldest needs Producers::many: a publisher that drops is a second consumer");
    using Observer = typename Traits::Observer;
    static_assert(std::is_same_v<Observer, NoBusObserver> || namesPressure<Observer> ||
                      namesFailures<Observer>,
                  "the Observer of the traits can be told nothing: it has neither "
                  "pressureChanged(Pressure, Pressure) nor handlerFailed(std::size_t, "
                  "std::exception_ptr)");
    static_assert(!namesPressure<Observer> || observesPressure<Observer>,
                  "pressureChanged of the Observer of the traits takes (Pressure, Pressure)");
    static_assert(!namesFailures<Observer> || observesFailures<Observer>,
                  "handlerFailed of the Observer of the traits takes (std::size_t, "
                  "std::exception_ptr)");
    return true;
}

/// What a list of messages and traits make up.
template <class MessageList, class Traits>
struct BusTypes {
    static_assert(areChecked<MessageList, Traits>());

    using Header = MessageHeader<Traits>;
    using Envelope = detail::Envelope<MessageList, Traits>;
    using Store = RingStore<Envelope, Traits>;
    using Accounts =
        std::conditional_t<Traits::statistics,
                           detail::Accounts<typename Traits::Platform, MessageList::count>,
                           NoAccounts>;
    using TimeKeeper = std::conditional_t<Traits::timeStamp == TimeStamp::none, NoTimeKeeper,
                                          detail::TimeKeeper<Traits, Accounts>>;
    using Gauge = PressureGauge<typename Traits::Platform, typename Traits::Observer>;
};

}  // namespace sluice::detail
