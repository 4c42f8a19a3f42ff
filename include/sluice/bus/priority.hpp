#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The urgency of a message. In a bus, each priority has its own order and its own quota, which is
/// a maximum number of messages. Functions and traits call the quota `room`: see roomOf().
enum class Priority : std::uint8_t { low, medium, high };

inline constexpr std::size_t priorityCount = 3;

[[nodiscard]] constexpr const char* toString(Priority priority) noexcept {
    return priority == Priority::high ? "high" : priority == Priority::medium ? "medium" : "low";
}

/// The fill level of a priority's quota. The fill level of a bus is that of its fullest priority.
enum class Pressure : std::uint8_t {
    normal,
    warning,   ///< at least 75 % of the quota is in use
    critical,  ///< at least 90 % of the quota is in use
    full,      ///< the quota is used up
};

[[nodiscard]] constexpr const char* toString(Pressure pressure) noexcept {
    return pressure == Pressure::full       ? "full"
           : pressure == Pressure::critical ? "critical"
           : pressure == Pressure::warning  ? "warning"
                                            : "normal";
}

/// The default quota of a priority, in messages: 60 % of the depth for low, 80 % for medium and
/// 100 % for high priority, but at least one message.
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

constexpr std::size_t indexOf(Priority priority) noexcept {
    return static_cast<std::size_t>(priority);
}

/// Implements PriorityOrder::weighted: serves the highest priority that has a message and credit.
/// If no priority has both a message and credit, a round with new credit begins. The oldest message
/// of a priority waits for at most two rounds of the other priorities.
template <class Traits>
class WeightedOrder {
public:
    /// Serves up to `max` messages and returns their number. serveOne(priority) handles one
    /// message, or returns false if the priority has none.
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
        --credit;  // before serveOne(), because a handler may throw
        const bool isServed = serveOne(std::integral_constant<Priority, P>());
        credit += isServed ? 0 : 1;
        return isServed;
    }

    std::array<std::size_t, priorityCount> credit_ = Traits::weights;
};

}  // namespace detail

}  // namespace sluice
