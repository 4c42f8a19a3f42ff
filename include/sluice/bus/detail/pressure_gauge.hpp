#pragma once

#include <sluice/bus/priority.hpp>

#include <atomic>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class Observer, class = void>
inline constexpr bool observesPressure = false;
template <class Observer>
inline constexpr bool
    observesPressure<Observer, std::void_t<decltype(std::declval<Observer&>().pressureChanged(
                                   Pressure::normal, Pressure::normal))>> = true;

/// Tells the observer when the pressure has changed; each change once, by whoever noticed it first.
template <class Platform, class Observer, bool = observesPressure<Observer>>
class PressureGauge {
public:
    /// Whether this pressure would be news as a rise. A hint.
    [[nodiscard]] bool isAbove(Pressure pressure) const noexcept {
        return pressure > told_.load(std::memory_order_relaxed);
    }

    template <class Store>
    void tell(const Store& store, Observer* observer) noexcept {
        // Again if it has changed meanwhile: otherwise the last word could be an old one.
        for (Pressure now = store.pressure();; now = store.pressure()) {
            tellOnce(now, observer);
            if (now == store.pressure()) {
                break;
            }
        }
    }

private:
    void tellOnce(Pressure now, Observer* observer) noexcept {
        // Relaxed: no data follows it.
        const Pressure before = told_.exchange(now, std::memory_order_relaxed);
        if (before != now && observer != nullptr) {
            observer->pressureChanged(before, now);
        }
    }

    typename Platform::template Atomic<Pressure> told_{Pressure::normal};
};

template <class Platform, class Observer>
class PressureGauge<Platform, Observer, false> {
public:
    static constexpr bool isAbove(Pressure) noexcept { return false; }
    template <class Store>
    static void tell(const Store&, Observer*) noexcept {}
};

}  // namespace sluice::detail
