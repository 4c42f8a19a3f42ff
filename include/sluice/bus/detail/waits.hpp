#pragma once

#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/notify.hpp>

#include <array>

namespace sluice::detail {

/// Where the threads wait that use a bus.
template <class Wait>
struct Waits {
    Wait arrived;                          ///< the consumer, for a message or the end
    Wait drained;                          ///< threads that drain
    std::array<Wait, priorityCount> room;  ///< publishers

    void notifyOneForRoom(Priority priority) noexcept { notifyOneOf(room[indexOf(priority)]); }
    void notifyAllForRoom() noexcept {
        for (Wait& each : room) {
            each.notifyAll();
        }
    }
    /// After everything after which the bus may be drained.
    void notifyAll() noexcept {
        arrived.notifyAll();
        drained.notifyAll();
        notifyAllForRoom();
    }
};

}  // namespace sluice::detail
