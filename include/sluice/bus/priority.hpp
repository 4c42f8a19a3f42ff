#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The urgency of a message. Each priority has its own quota in the bus, and its own order.
enum class Priority : std::uint8_t { low, medium, high };

inline constexpr std::size_t priorityCount = 3;

[[nodiscard]] constexpr const char* toString(Priority priority) noexcept {
    return priority == Priority::high ? "high" : priority == Priority::medium ? "medium" : "low";
}

/// The fill level of a bus: the highest priority whose quota is in use.
enum class Pressure : std::uint8_t {
    normal,    ///< each priority has room
    warning,   ///< low is full
    critical,  ///< medium is full; low may be full, too
    full,      ///< high is full; the others may be full, too
};

[[nodiscard]] constexpr const char* toString(Pressure pressure) noexcept {
    return pressure == Pressure::full       ? "full"
           : pressure == Pressure::critical ? "critical"
           : pressure == Pressure::warning  ? "warning"
                                            : "normal";
}

namespace detail {

/// The index of a priority in the arrays of traits and statistics.
constexpr std::size_t indexOf(Priority priority) noexcept {
    return static_cast<std::size_t>(priority);
}

}  // namespace detail

}  // namespace sluice
