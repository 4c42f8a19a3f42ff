#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/pressure.hpp>

#include <atomic>
#include <type_traits>

namespace sluice::detail {

/// Tells the observer of each change of the pressure once, on the thread that notices it first.
///
/// Edges: E1 told: message there, light fence, told_ loaded -- against -- told_ exchanged, heavy
/// fence, rooms looked at: either the publisher sees the old pressure, or the other thread sees the
/// message.
///
/// Tests: tests/unit/bus/pressure_test.cpp, tests/model/pressure_notifier_model_test.cpp.
template <class Platform, class Observer>
class PressureNotifier {
    static constexpr bool isSilent = std::is_same_v<Observer, BusObserver>;

public:
    /// Whether this pressure is above the last one that was told. A hint.
    [[nodiscard]] bool isAbove(Pressure pressure) const noexcept {
        if constexpr (isSilent) {
            return false;
        }
        Platform::Fence::light();  // E1 told
        return pressure > told_.load(std::memory_order_relaxed);
    }

    template <class Rings>
    void tell(const Rings& rings, Observer* observer) noexcept {
        if constexpr (isSilent) {
            return;
        }
        // Repeats if the pressure has changed. Otherwise the last call could tell an old one.
        Pressure now = Pressure::normal;
        do {
            now = rings.pressure();
            // Relaxed: no data follows it.
            const Pressure before = told_.exchange(now, std::memory_order_relaxed);
            if (before != now) {
                Platform::Fence::heavy();  // E1 told
                if (observer != nullptr) {
                    observer->pressureChanged(before, now);
                }
            }
        } while (now != rings.pressure());
    }

private:
    typename Platform::template Atomic<Pressure> told_{Pressure::normal};
};

}  // namespace sluice::detail
