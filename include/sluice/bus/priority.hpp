#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The urgency of a message. Each priority has a room and an order of its own in the bus.
enum class Priority : std::uint8_t { low, medium, high };

inline constexpr std::size_t priorityCount = 3;

[[nodiscard]] constexpr const char* toString(Priority priority) noexcept {
    return priority == Priority::high ? "high" : priority == Priority::medium ? "medium" : "low";
}

/// The fill level of a room. The fill level of a bus is that of its fullest priority.
enum class Pressure : std::uint8_t {
    normal,
    warning,   ///< 75 % of the room are in use
    critical,  ///< 90 % of the room are in use
    full,      ///< the room is in use: messages of this priority are refused
};

[[nodiscard]] constexpr const char* toString(Pressure pressure) noexcept {
    return pressure == Pressure::full       ? "full"
           : pressure == Pressure::critical ? "critical"
           : pressure == Pressure::warning  ? "warning"
                                            : "normal";
}

/// The number of messages of one priority that a bus of this depth accepts. The room is 60 % of
/// the depth for low, 80 % for medium and 100 % for high, but at least one message.
[[nodiscard]] constexpr std::size_t roomOf(std::size_t depth, Priority priority) noexcept {
    const std::size_t percent = priority == Priority::high     ? 100
                                : priority == Priority::medium ? 80
                                                               : 60;
    const std::size_t room = depth / 100 * percent + depth % 100 * percent / 100;  // no overflow
    return room != 0 ? room : 1;
}

[[nodiscard]] constexpr Pressure pressureOf(std::size_t used, std::size_t room) noexcept {
    return used >= room               ? Pressure::full
           : used >= room - room / 10 ? Pressure::critical
           : used >= room - room / 4  ? Pressure::warning
                                      : Pressure::normal;
}

namespace detail {

/// The index of a priority in the arrays of traits and statistics.
constexpr std::size_t indexOf(Priority priority) noexcept {
    return static_cast<std::size_t>(priority);
}

/// Implements PriorityOrder::weighted: serves the highest priority that has a message and credit. A
/// round ends when no priority has both a message and credit. The oldest message of a priority
/// waits for at most two rounds of the other priorities.
template <class Traits>
class WeightedOrder {
public:
    /// serveOne(priority) handles one message and returns true, or returns false if there is none.
    /// Returns the number of messages served, at most `max`.
    template <class IsOver, class ServeOne>
    std::size_t serve(std::size_t max, const IsOver& isOver, const ServeOne& serveOne) {
        std::size_t count = 0;
        for (bool isFreshRound = false; count < max && !isOver();) {
            if (serveByCredit<Priority::high>(serveOne) ||
                serveByCredit<Priority::medium>(serveOne) ||
                serveByCredit<Priority::low>(serveOne)) {
                ++count;
                isFreshRound = false;
            } else if (isFreshRound) {
                break;
            } else {
                isFreshRound = true;
                credit_ = Traits::weights;
            }
        }
        return count;
    }

private:
    template <Priority P, class ServeOne>
    bool serveByCredit(const ServeOne& serveOne) {
        std::size_t& credit = credit_[indexOf(P)];
        if (credit == 0) {
            return false;
        }
        --credit;  // first: the handler may throw
        const bool isServed = serveOne(std::integral_constant<Priority, P>());
        credit += isServed ? 0 : 1;
        return isServed;
    }

    std::array<std::size_t, priorityCount> credit_ = Traits::weights;
};

}  // namespace detail

}  // namespace sluice
