#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace sluice::detail {

/// Serves the highest priority that has a message. The consumer looks at the head of the ring of
/// high priority after each message, and at the ring of medium priority after `patience` low ones.
/// Without priorities there is one ring to serve.
template <class Traits>
class StrictOrder {
    /// Each look may take away the line that a publisher is writing.
    static constexpr std::size_t patience = 16;

public:
    template <class Rings, class Handle, class Released>
    [[gnu::always_inline]] std::size_t serve(Rings& rings, const Handle& handle, std::size_t max,
                                             const Released& released) {
        const auto always = [&](auto priority) __attribute__((always_inline)) {
            released(priority);
            return true;
        };
        if constexpr (!Traits::priorities) {
            return rings.template serveOne<Priority::medium>(handle, max, always);
        } else {
            std::size_t count = 0;
            std::size_t served = 1;
            while (served != 0 && count < max) {
                const std::size_t left = max - count;
                served = rings.template serveOne<Priority::high>(handle, left, always);
                const auto isHighThere = rings.highArrival();
                const auto untilHigh = [&](auto priority) __attribute__((always_inline)) {
                    released(priority);
                    return !isHighThere();
                };
                if (served == 0) {
                    served = rings.template serveOne<Priority::medium>(handle, left, untilHigh);
                }
                if (served == 0) {
                    served = rings.template serveOne<Priority::low>(
                        handle, std::min(left, patience), untilHigh);
                }
                count += served;
            }
            return count;
        }
    }
};

/// Serves the highest priority that has a message and credit left in this round. The round ends
/// when no priority that has credit has a message. So a message at the head of its ring waits for
/// at most twice the weights of the other priorities: for their credit in this round, and for the
/// credit of higher priorities in the next round.
template <class Traits>
class WeightedOrder {
public:
    template <class Rings, class Handle, class Released>
    std::size_t serve(Rings& rings, const Handle& handle, std::size_t max,
                      const Released& released) {
        std::size_t count = 0;
        for (bool isFreshRound = false; count < max;) {
            std::size_t served = serveOne<Priority::high>(rings, handle, released);
            served = served != 0 ? served : serveOne<Priority::medium>(rings, handle, released);
            served = served != 0 ? served : serveOne<Priority::low>(rings, handle, released);
            count += served;
            if (served == 0 && isFreshRound) {
                break;
            }
            isFreshRound = served == 0;
            if (isFreshRound) {
                credit_ = Traits::weights;
            }
        }
        return count;
    }

private:
    /// Serves one message, if this priority has a message and credit.
    template <Priority P, class Rings, class Handle, class Released>
    std::size_t serveOne(Rings& rings, const Handle& handle, const Released& released) {
        std::size_t& credit = credit_[indexOf(P)];
        const auto pay = [&](auto& queued, auto priority) {
            --credit;  // before it is handled: the handler may throw
            handle(queued, priority);
        };
        return rings.template serveOne<P>(pay, credit != 0 ? 1 : 0,
                                          [&](auto priority) { return released(priority), true; });
    }

    std::array<std::size_t, priorityCount> credit_ = Traits::weights;
};

template <class Traits>
using OrderFor =
    std::conditional_t<Traits::priorities && Traits::service == PriorityOrder::weighted,
                       WeightedOrder<Traits>, StrictOrder<Traits>>;

}  // namespace sluice::detail
