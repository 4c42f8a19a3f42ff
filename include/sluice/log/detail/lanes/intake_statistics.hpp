#pragma once

/// \file
/// The counts of an intake.

#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice::log::detail {

/// The counts of one lane since its thread got it. While the thread posts, each number belongs to a
/// moment during the call.
struct LaneStatistics : LaneCounts, LanePeaks {
    LaneInfo thread;
    std::size_t messages = 0;  ///< records in the lane now
    std::size_t bytes = 0;     ///< the bytes of these records
};

/// The sums over all lanes, with the lanes that have been freed. While no thread posts and no
/// record is emitted, logged = emitted + overrun + messages.
struct IntakeStatistics : LaneCounts, LanePeaks {
    std::uint64_t emitted = 0;
    std::size_t lanes = 0;              ///< lanes of threads, and lanes that are not yet empty
    std::size_t messages = 0;           ///< accepted records that have not been emitted
    std::size_t bytes = 0;              ///< the bytes of these records
    std::uint64_t ignoredStalls = 0;    ///< stalls that lasted longer than maxHold
    std::uint64_t orderViolations = 0;  ///< records that came too late after such a stall
    std::uint64_t deadThreads = 0;      ///< threads that died without their destructors
};

}  // namespace sluice::log::detail
