#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sluice::detail {

/// Closes several buses, and waits until their consumers have dealt with what was accepted. A
/// handler of any of them does not wait for the others either: their consumer may be the same
/// thread, or in a handler that waits in turn.
template <class Buses, class TimePoint>
bool drainAll(Buses& buses, TimePoint deadline) {
    for (auto& bus : buses) {
        bus.close();
    }
    const bool isHandler = std::any_of(buses.begin(), buses.end(),
                                       [](const auto& bus) { return bus.isConsumedHere(); });
    bool areDrained = true;
    for (auto& bus : buses) {
        areDrained = (isHandler ? bus.isDrained() : bus.drain(deadline)) && areDrained;
    }
    return areDrained;
}

template <class Bus, class Observer, std::size_t... Is>
std::array<Bus, sizeof...(Is)> observedBuses(Observer& observer, std::index_sequence<Is...>) {
    // In place: a bus cannot be moved.
    return {{(static_cast<void>(Is), Bus(observer))...}};
}

/// So many buses that have one observer.
template <class Bus, std::size_t Count, class Observer>
std::array<Bus, Count> observedBuses(Observer& observer) {
    return observedBuses<Bus>(observer, std::make_index_sequence<Count>());
}

}  // namespace sluice::detail
