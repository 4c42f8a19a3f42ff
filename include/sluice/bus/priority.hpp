#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The urgency of a message. Each priority has a room of its own in the bus. The consumer serves
/// messages of higher priority first: see PriorityOrder.
enum class Priority : std::uint8_t { low, medium, high };

inline constexpr std::size_t priorityCount = 3;

[[nodiscard]] constexpr const char* toString(Priority priority) noexcept {
    return priority == Priority::high ? "high" : priority == Priority::medium ? "medium" : "low";
}

}  // namespace sluice
