#pragma once

#include <algorithm>

namespace sluice::detail {

/// Closes several buses, and waits until their consumers have dealt with what was accepted. A
/// handler of any of them does not wait for the others either: their consumer may be the same
/// thread, or in a handler that waits in turn.
template <class Buses, class TimePoint>
bool drainAll(Buses& buses, TimePoint deadline) {
    for (auto& bus : buses) {
        bus.close();
    }
    if (std::any_of(buses.begin(), buses.end(),
                    [](const auto& bus) { return bus.isConsumedHere(); })) {
        return std::all_of(buses.begin(), buses.end(),
                           [](const auto& bus) { return bus.isDrained(); });
    }
    bool areDrained = true;
    for (auto& bus : buses) {
        areDrained = bus.drain(deadline) && areDrained;
    }
    return areDrained;
}

}  // namespace sluice::detail
