#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/pressure.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <cstddef>

namespace sluice::detail {

/// The index of a priority in arrays of the traits and of the statistics.
constexpr std::size_t indexOf(Priority priority) noexcept {
    return static_cast<std::size_t>(priority);
}

/// Whether a priority has this policy.
template <class Traits>
constexpr bool hasPolicy(BusOverflow policy) noexcept {
    return Traits::overflow[0] == policy || Traits::overflow[1] == policy ||
           Traits::overflow[2] == policy;
}

/// Whether publishers may wait for room, unless a call says otherwise.
template <class Traits>
inline constexpr bool canBlock =
    hasPolicy<Traits>(BusOverflow::block) || hasPolicy<Traits>(BusOverflow::blockFor);

/// The room of this priority, in messages. Without a room in the traits, low and high get a quarter
/// of the depth each, and medium gets the rest; each gets at least one. Without priorities, medium
/// gets the depth.
template <class Traits>
constexpr std::size_t roomOf(Priority priority) noexcept {
    if (!Traits::priorities) {
        return priority == Priority::medium ? Traits::depth : 0;
    }
    if (Traits::rooms[indexOf(priority)] != 0) {
        return Traits::rooms[indexOf(priority)];
    }
    const std::size_t quarter = std::max<std::size_t>(Traits::depth / 4, 1);
    return priority != Priority::medium  ? quarter
           : Traits::depth > 2 * quarter ? Traits::depth - 2 * quarter
                                         : 1;
}

/// The sum of all rooms.
template <class Traits>
constexpr std::size_t allRooms() noexcept {
    return roomOf<Traits>(Priority::low) + roomOf<Traits>(Priority::medium) +
           roomOf<Traits>(Priority::high);
}

/// The pressure when the room of this priority is the highest that is full.
template <class Traits>
constexpr Pressure pressureOf(Priority fullRoom) noexcept {
    return !Traits::priorities || fullRoom == Priority::high ? Pressure::full
           : fullRoom == Priority::medium                    ? Pressure::critical
                                                             : Pressure::warning;
}

}  // namespace sluice::detail
