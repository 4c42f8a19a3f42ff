#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// How much a message matters. Each priority has a room of its own, and the messages of a higher
/// one are served first.
enum class Priority : std::uint8_t { low, medium, high };

inline constexpr std::size_t priorityCount = 3;

/// How full a bus is: the highest priority whose room is full.
enum class Pressure : std::uint8_t {
    normal,    ///< each priority has room
    warning,   ///< the room of low is full
    critical,  ///< the room of medium is full; that of low may be
    full,      ///< the room of high is full; the others may be
};

[[nodiscard]] constexpr const char* toString(Priority priority) noexcept {
    return priority == Priority::high ? "high" : priority == Priority::medium ? "medium" : "low";
}

[[nodiscard]] constexpr const char* toString(Pressure pressure) noexcept {
    return pressure == Pressure::full       ? "full"
           : pressure == Pressure::critical ? "critical"
           : pressure == Pressure::warning  ? "warning"
                                            : "normal";
}

}  // namespace sluice
