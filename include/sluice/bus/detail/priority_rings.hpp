#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/drop_oldest_ring.hpp>
#include <sluice/bus/detail/priority_order.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/pressure.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace sluice::detail {

/// The ring of one priority. Its capacity is the room, and with dropOldest twice the room.
template <class QueuedMessage, class Traits, Priority P>
using RingFor =
    std::conditional_t<Traits::priorities &&
                           Traits::overflow[indexOf(P)] == BusOverflow::dropOldest,
                       DropOldestRing<QueuedMessage, roomOf<Traits>(P), Traits>,
                       std::conditional_t<Traits::producers == Producers::one,
                                          SpscRing<QueuedMessage, roomOf<Traits>(P), Traits>,
                                          MpscRing<QueuedMessage, roomOf<Traits>(P), Traits>>>;

/// Whether publishers of this ring make room by dropping messages.
template <class Ring>
inline constexpr bool canDropOldest = false;
template <class QueuedMessage, std::size_t Room, class Traits>
inline constexpr bool canDropOldest<DropOldestRing<QueuedMessage, Room, Traits>> = true;

/// A priority as a type, so that no index is computed for it.
template <Priority P>
using Fixed = std::integral_constant<Priority, P>;

/// The messages of a bus: a ring for each priority, or the ring of medium priority alone. No
/// priority can take room from another, and a publisher that is stopped in a publication delays
/// only its own priority.
template <class QueuedMessage, class Traits>
class PriorityRings {
    struct NoRing {};
    template <Priority P>
    using Ring = std::conditional_t<Traits::priorities || P == Priority::medium,
                                    RingFor<QueuedMessage, Traits, P>, NoRing>;

public:
    /// Calls f(ring) with the ring of this priority.
    template <class F>
    [[gnu::always_inline]] decltype(auto) at([[maybe_unused]] Priority priority, F&& f) {
        if constexpr (Traits::priorities) {
            if (priority != Priority::medium) {
                return priority == Priority::high ? f(high_) : f(low_);
            }
        }
        return f(medium_);
    }

    // ---- The consumer

    /// As consumeWhile() of the ring of one priority, with handle(queued, Fixed<P>()) and
    /// goOn(Fixed<P>()).
    template <Priority P, class Handle, class GoOn>
    [[gnu::always_inline]] std::size_t serveOne(const Handle& handle, std::size_t max,
                                                const GoOn& goOn) {
        return ring<P>().consumeWhile(
            [&](QueuedMessage & queued)
                __attribute__((always_inline)) { handle(queued, Fixed<P>()); },
            max, [&]() __attribute__((always_inline)) { return goOn(Fixed<P>()); });
    }

    /// Hands messages, at most `max`, to handle(queued, Fixed<P>()), in the order that the traits
    /// name. Calls released(Fixed<P>()) after each message, when its slot is free. Returns how
    /// many.
    template <class Handle, class Released>
    [[gnu::always_inline]] std::size_t serve(const Handle& handle, std::size_t max,
                                             const Released& released) {
        return order_.serve(*this, handle, max, released);
    }

    /// Whether high priority has an arrival, as a function object: see MpscRing::arrival().
    [[nodiscard]] auto highArrival() const noexcept { return high_.arrival(); }

    /// Whether the consumer would find a message, or a slot to skip. The consumer calls it.
    [[nodiscard]] bool hasArrival() const noexcept {
        return any([](const auto& ring) { return ring.hasArrival(); });
    }

    /// False if no room holds a second message. The consumer asks while it handles a message.
    [[nodiscard]] bool hasSecond() const noexcept {
        return any([](const auto& ring) { return ring.hasSecond(); });
    }

    // ---- Anybody

    void close() noexcept {
        forEach(*this, [](auto& ring, Priority) { ring.close(); });
    }
    [[nodiscard]] bool isClosed() const noexcept {
        return !any([](const auto& ring) { return !ring.isClosed(); });
    }
    /// Whether the bus is closed and all accepted messages have left it. Once true, it stays true.
    [[nodiscard]] bool isDrained() const noexcept {
        return !any([](const auto& ring) { return !ring.isDrained(); });
    }
    /// The number of messages. Messages that are being published or handled count.
    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t sum = 0;
        forEach(*this, [&](const auto& ring, Priority) { sum += ring.sizeExact(); });
        return sum;
    }
    /// The number of messages in the room that holds the most.
    [[nodiscard]] std::size_t highest() const noexcept {
        std::size_t most = 0;
        forEach(*this,
                [&](const auto& ring, Priority) { most = std::max(most, ring.sizeExact()); });
        return most;
    }
    /// The pressure of the highest priority whose room is full.
    [[nodiscard]] Pressure pressure() const noexcept {
        Pressure pressure = Pressure::normal;
        forEach(*this, [&](const auto& ring, Priority priority) {
            if (pressure == Pressure::normal && ring.sizeExact() >= roomOf<Traits>(priority)) {
                pressure = pressureOf<Traits>(priority);
            }
        });
        return pressure;
    }

private:
    template <Priority P>
    Ring<P>& ring() noexcept {
        if constexpr (P == Priority::medium) {
            return medium_;
        } else if constexpr (P == Priority::high) {
            return high_;
        } else {
            return low_;
        }
    }

    /// Calls f(ring, priority) for each ring, the highest priority first.
    template <class Rings, class F>
    static void forEach(Rings& rings, const F& f) {
        if constexpr (Traits::priorities) {
            f(rings.high_, Priority::high);
        }
        f(rings.medium_, Priority::medium);
        if constexpr (Traits::priorities) {
            f(rings.low_, Priority::low);
        }
    }

    template <class Predicate>
    [[nodiscard]] bool any(Predicate holds) const {
        bool isAny = false;
        forEach(*this, [&](const auto& ring, Priority) { isAny = isAny || holds(ring); });
        return isAny;
    }

    Ring<Priority::high> high_;
    Ring<Priority::medium> medium_;
    Ring<Priority::low> low_;
    OrderFor<Traits> order_;  // used by the consumer alone
};

}  // namespace sluice::detail
