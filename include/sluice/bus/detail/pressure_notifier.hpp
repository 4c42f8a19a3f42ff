#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/priority.hpp>

#include <atomic>
#include <type_traits>

namespace sluice::detail {

/// Reports each change of the pressure once, on the thread that notices it first.
///
/// E1 reported: message published, light fence, reported_ read -- against -- reported_ exchanged,
/// heavy fence, pressure read: either the publisher sees the old pressure, or the other thread sees
/// the message.
template <class Platform, class Observer>
class PressureNotifier {
    static constexpr bool isSilent = std::is_same_v<Observer, BusObserver>;

public:
    /// Returns true if this pressure is above the one reported last. A hint.
    [[nodiscard]] bool isAbove(Pressure pressure) const noexcept {
        if constexpr (isSilent) {
            return false;
        }
        Platform::Fence::light();  // E1 reported
        return pressure > reported_.load(std::memory_order_relaxed);
    }

    template <class Bus>
    void notify(const Bus& bus, Observer* observer) noexcept {
        if constexpr (isSilent) {
            return;
        }
        // Repeats while the pressure changes, so that the last report is not outdated.
        Pressure now = Pressure::normal;
        do {
            now = bus.pressure();
            // Relaxed: no data follows it.
            const Pressure before = reported_.exchange(now, std::memory_order_relaxed);
            if (before != now) {
                Platform::Fence::heavy();  // E1 reported
                if (observer != nullptr) {
                    observer->pressureChanged(before, now);
                }
            }
        } while (now != bus.pressure());
    }

private:
    typename Platform::template Atomic<Pressure> reported_{Pressure::normal};
};

}  // namespace sluice::detail
