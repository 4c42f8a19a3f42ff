#pragma once

#include <cstdint>

namespace sluice {

/// Tells how full a bus is, by the highest priority whose room is full.
enum class Pressure : std::uint8_t {
    normal,    ///< each priority has room
    warning,   ///< the room of low is full
    critical,  ///< the room of medium is full; that of low may be
    full,      ///< the room of high is full; the others may be
};

[[nodiscard]] constexpr const char* toString(Pressure pressure) noexcept {
    return pressure == Pressure::full       ? "full"
           : pressure == Pressure::critical ? "critical"
           : pressure == Pressure::warning  ? "warning"
                                            : "normal";
}

}  // namespace sluice
