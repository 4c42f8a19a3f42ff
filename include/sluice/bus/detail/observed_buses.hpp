#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace sluice::detail {

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
