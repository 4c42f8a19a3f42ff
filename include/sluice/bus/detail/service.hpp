#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/priority.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace sluice::detail {

/// Whose turn it is: the highest priority that has a message.
class StrictService {
public:
    /// There are no rounds.
    template <class Lists>
    static constexpr bool isRoundOver(const Lists&) noexcept {
        return false;
    }

    /// False when none has.
    template <class Lists>
    bool pick(const Lists& lists, Priority& priority) noexcept {
        for (const Priority each : {Priority::high, Priority::medium, Priority::low}) {
            if (!lists[place(each)].isEmpty()) {
                priority = each;
                return true;
            }
        }
        return false;
    }

    void serve(Priority) noexcept {}
};

/// The highest priority that has a message and credit left in this round. The round ends when
/// nobody who has credit has a message. So a message at the head of its list waits for at most the
/// weights of the other priorities, twice: for what they have left of this round, and for what
/// those above it get of the next one. As long as the lists are brought up to date at the end of
/// each round.
template <class Traits>
class WeightedService {
public:
    /// Whether nobody who has credit has a message.
    template <class Lists>
    [[nodiscard]] bool isRoundOver(const Lists& lists) const noexcept {
        Priority priority = Priority::medium;
        return !pickWithCredit(lists, priority);
    }

    template <class Lists>
    bool pick(const Lists& lists, Priority& priority) noexcept {
        if (pickWithCredit(lists, priority)) {
            return true;
        }
        credit_ = Traits::weights;
        return pickWithCredit(lists, priority);
    }

    void serve(Priority priority) noexcept { --credit_[place(priority)]; }

private:
    template <class Lists>
    bool pickWithCredit(const Lists& lists, Priority& priority) const noexcept {
        for (const Priority each : {Priority::high, Priority::medium, Priority::low}) {
            if (credit_[place(each)] != 0 && !lists[place(each)].isEmpty()) {
                priority = each;
                return true;
            }
        }
        return false;
    }

    std::array<std::size_t, priorityCount> credit_ = Traits::weights;
};

template <class Traits>
using ServiceFor =
    std::conditional_t<Traits::service == Service::strict, StrictService, WeightedService<Traits>>;

}  // namespace sluice::detail
