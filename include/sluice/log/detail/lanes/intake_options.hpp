#pragma once

/// \file
/// The settings of an intake.

#include <sluice/base/platform.hpp>
#include <sluice/base/priority_mutex.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/overflow_policy.hpp>
#include <sluice/wait/event_count.hpp>

#include <chrono>
#include <cstddef>

namespace sluice::log::detail {

enum class [[nodiscard]] PostResult : unsigned char { ok, discarded, closed };

/// Makes room on the thread that posts, instead of a wait. For a back end without a thread.
struct RoomMaker {
    /// False if the calling thread is not the thread that empties the lanes.
    bool (*make)(void* engine) noexcept = nullptr;
    void* engine = nullptr;
};

struct IntakeOptions {
    static constexpr std::size_t mostMessages = std::size_t{1} << 30U;
    static constexpr std::size_t mostBytes = std::size_t{1} << 30U;

    std::size_t laneMessages = 8192;                ///< records in the lane of a thread
    std::size_t laneBytes = std::size_t{1} << 20U;  ///< bytes in the lane of a thread, with headers
    /// The longest time that a stalled thread may hold the output back.
    std::chrono::nanoseconds maxHold = std::chrono::nanoseconds::max();
    RoomMaker roomMaker;

    /// Refuses, see setupError: no messages or too many, fewer bytes than `leastBytes` or too many,
    /// and a maxHold that is not positive.
    [[nodiscard]] const IntakeOptions& checked(std::size_t leastBytes) const {
        check("messages of a lane", laneMessages, 1, mostMessages);
        check("bytes of a lane", laneBytes, leastBytes, mostBytes);
        if (maxHold <= maxHold.zero()) {
            setupError("maxHold of an intake in nanoseconds is too small", 0, 1);
        }
        return *this;
    }

private:
    static void check(const char* what, std::size_t value, std::size_t least, std::size_t most) {
        if (value < least || value > most) {
            setupError(what, value, value < least ? least : most);
        }
    }
};

struct IntakeTraits {
    using Platform = StdPlatform;
    using Clock = StampClock;
    using FullFence = PortableFence;  ///< its heavy() orders two threads that both call it
    using Parker = DefaultParker;     ///< puts the threads of the intake to sleep
    using Lock = PriorityMutex;       ///< guards the list of lanes
};

}  // namespace sluice::log::detail
