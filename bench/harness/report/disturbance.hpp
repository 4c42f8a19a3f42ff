#pragma once

/// \file
/// The disturbance of the machine by others during a scenario.

#include "harness/report/result.hpp"

namespace sluice::bench {

/// The largest part of the CPU time that others may use without a remark.
inline constexpr double disturbance = 0.02;

/// Whether others used more of the CPU time than `disturbance`. False if unknown.
inline bool wasDisturbed(const MachineRecord& record) noexcept {
    return record.others > disturbance || record.stolen > disturbance;
}

}  // namespace sluice::bench
