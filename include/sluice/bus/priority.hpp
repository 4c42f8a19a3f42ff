#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// How much a message matters. It decides which messages are still let in when the bus fills up,
/// and which of those that are in are served first.
enum class Priority : std::uint8_t { low, medium, high };

inline constexpr std::size_t priorityCount = 3;

/// How full a bus is. The levels are those of admission: what each says is what the next publisher
/// meets.
enum class Pressure : std::uint8_t {
    normal,    ///< every priority is let in
    warning,   ///< low is refused
    critical,  ///< low and medium are refused
    full,      ///< nothing is let in
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
