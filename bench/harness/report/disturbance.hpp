#pragma once

/// \file
/// The disturbance of the machine by others during a scenario.

#include "harness/report/result.hpp"

namespace sluice::bench {

/// The largest part of the CPU time that may go elsewhere unremarked.
inline constexpr double disturbance = 0.02;

/// Whether others had more of the CPUs than that; false when it is not known.
inline bool wasDisturbed(const MachineRecord& record) noexcept {
    return record.others > disturbance || record.stolen > disturbance;
}

}  // namespace sluice::bench
