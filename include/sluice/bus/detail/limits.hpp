#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/priority.hpp>

#include <cstddef>

namespace sluice::detail {

constexpr std::size_t place(Priority priority) noexcept {
    return static_cast<std::size_t>(priority);
}

template <class Traits>
constexpr bool anyOverflow(BusOverflow overflow) noexcept {
    for (const BusOverflow each : Traits::overflow) {
        if (each == overflow) {
            return true;
        }
    }
    return false;
}

/// Whether publishers may make room by dropping messages.
template <class Traits>
constexpr bool canDrop() noexcept {
    return anyOverflow<Traits>(BusOverflow::dropOldest) ||
           anyOverflow<Traits>(BusOverflow::keepLatest);
}

/// Whether publishers may wait for room.
template <class Traits>
constexpr bool canBlock() noexcept {
    return anyOverflow<Traits>(BusOverflow::block) || anyOverflow<Traits>(BusOverflow::blockFor);
}

/// The limit of a priority in messages: its share of the depth, rounded down, but at least one. In
/// a very small bus the limits are close together or the same: with two slots, 1 for all. In two
/// steps, as the product may overflow.
template <class Traits>
constexpr std::size_t limitOf(Priority priority, std::size_t depth = Traits::depth) noexcept {
    const std::size_t percent = Traits::limits[place(priority)];
    const std::size_t limit = depth / 100 * percent + depth % 100 * percent / 100;
    return limit == 0 ? 1 : limit;
}

/// With so many messages in a bus of this depth, this is what the next publisher meets.
template <class Traits>
constexpr Pressure pressureAt(std::size_t used, std::size_t depth = Traits::depth) noexcept {
    if (!Traits::priorities) {
        return used >= depth ? Pressure::full : Pressure::normal;
    }
    return used >= limitOf<Traits>(Priority::high, depth)     ? Pressure::full
           : used >= limitOf<Traits>(Priority::medium, depth) ? Pressure::critical
           : used >= limitOf<Traits>(Priority::low, depth)    ? Pressure::warning
                                                              : Pressure::normal;
}

}  // namespace sluice::detail
