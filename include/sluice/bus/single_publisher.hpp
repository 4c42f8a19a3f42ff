#pragma once

// Include this header for a bus whose traits have Producers::one.

#include <sluice/bus/bus.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>

namespace sluice::detail {

template <class T, std::size_t Room, class Traits>
struct RingFor<RingKind::singlePublisher, T, Room, Traits> {
    struct Type : SpscRing<T, Room, Traits> {
        /// Always reserves a single slot.
        [[nodiscard]] auto tryReserve(std::size_t) {
            return SpscRing<T, Room, Traits>::tryReserve();
        }
    };
};

}  // namespace sluice::detail
