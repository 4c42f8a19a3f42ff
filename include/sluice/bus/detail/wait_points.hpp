#pragma once

#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/event_count.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace sluice::detail {

/// The places where the threads of a bus wait.
template <class Wait>
struct WaitPoints {
    Wait arrived;                          ///< the consumer, for a message or the end
    Wait drained;                          ///< threads that drain
    std::array<Wait, priorityCount> room;  ///< publishers

    /// Waits until isOver(). Without `isToldOfEach`, it checks isOver() again each millisecond.
    template <class IsOver, class Point>
    void awaitRoom(Priority priority, const IsOver& isOver, Point deadline, bool isToldOfEach) {
        using Clock = typename Point::clock;
        Point next = deadline;
        do {
            next = isToldOfEach ? next : deadlineAfter<Clock>(std::chrono::milliseconds(1));
        } while (!room[indexOf(priority)].waitUntil(isOver, std::min(next, deadline)) &&
                 Clock::now() < deadline);
    }
    void notifyOneForRoom(Priority priority) noexcept { notifyOneOf(room[indexOf(priority)]); }
    void notifyAllForRoom() noexcept {
        for (Wait& each : room) {
            each.notifyAll();
        }
    }
    /// To be called when the bus may be drained.
    void notifyAll() noexcept {
        arrived.notifyAll();
        drained.notifyAll();
        notifyAllForRoom();
    }
};

}  // namespace sluice::detail
