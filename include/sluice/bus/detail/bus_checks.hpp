#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/pressure.hpp>

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Whether the bus can call an observer. A member with other parameters would hide the default.
template <class Observer, class = void>
inline constexpr bool canBeTold = false;
template <class Observer>
inline constexpr bool
    canBeTold<Observer, std::void_t<decltype(std::declval<Observer&>().handlerFailed(
                                        std::size_t{}, std::declval<std::exception_ptr>())),
                                    decltype(std::declval<Observer&>().pressureChanged(
                                        Pressure::normal, Pressure::normal))>> = true;

/// Refuses traits that cannot work. It is a function, because a class that fails an assertion makes
/// compilers report each missing member too.
template <class MessageList, class Traits>
constexpr bool areChecked() noexcept {
    static_assert(Traits::depth >= 2, "the depth of a bus must be at least 2");
    static_assert(MessageList::maxSize <= Traits::maxMessageSize,
                  "a message is larger than maxMessageSize of the traits: carry large contents "
                  "through a BufferPool, or raise the limit");
    static_assert(Traits::weights[0] != 0 && Traits::weights[1] != 0 && Traits::weights[2] != 0,
                  "weights of the traits must be at least 1");
    static_assert(Traits::maxHandlers != 0, "maxHandlers of the traits must be at least 1");
    constexpr bool isDropping = hasPolicy<Traits>(BusOverflow::dropOldest);
    static_assert(Traits::priorities || !isDropping,
                  "a bus without priorities is a bare ring, which cannot drop messages");
    static_assert(!isDropping || Traits::producers == Producers::many,
                  "dropOldest needs Producers::many: a publisher that drops is a second consumer");
    static_assert(!isDropping || MessageList::areNothrowMovable,
                  "dropOldest moves a message out of the bus before its handler runs: the "
                  "messages must have a move constructor that is noexcept");
    using Observer = typename Traits::Observer;
    static_assert(std::is_base_of_v<BusObserver, Observer>,
                  "the Observer of the traits must derive from BusObserver");
    static_assert(!std::is_base_of_v<BusObserver, Observer> || canBeTold<Observer>,
                  "the Observer of the traits hides a member of BusObserver behind one with other "
                  "parameters");
    return true;
}

}  // namespace sluice::detail
