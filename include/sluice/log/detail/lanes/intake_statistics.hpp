#pragma once

/// \file
/// What an intake counts.

#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::log::detail {

/// Of one thread's lane, since the thread got it. Numbers of running threads are each as of some
/// moment during the call.
struct LaneStatistics : LaneCounts {
    LaneInfo thread;
    std::size_t messages = 0;           ///< in the lane now
    std::size_t bytes = 0;              ///< that they take
    std::size_t highWaterMessages = 0;  ///< most that a look of the back end has found
    std::size_t highWaterBytes = 0;
    std::uint64_t stalls = 0;  ///< records that were still announced when the back end looked again
    std::chrono::nanoseconds longestStall{0};
};

/// Of all lanes, those that are no longer there included. In quiet moments
/// logged = emitted + overrun + messages.
struct IntakeStatistics : LaneCounts {
    std::uint64_t emitted = 0;
    std::size_t lanes = 0;     ///< that threads own, or have left with records in them
    std::size_t messages = 0;  ///< accepted and not yet emitted, in lanes that are there
    std::size_t bytes = 0;
    std::size_t highWaterMessages = 0;  ///< of any one lane
    std::size_t highWaterBytes = 0;
    std::uint64_t stalls = 0;
    std::chrono::nanoseconds longestStall{0};
    std::uint64_t ignoredStalls = 0;    ///< that lasted longer than maxHold
    std::uint64_t orderViolations = 0;  ///< records that came too late after such a stall
    std::uint64_t deadThreads = 0;      ///< that ended without running their destructors
};

}  // namespace sluice::log::detail
