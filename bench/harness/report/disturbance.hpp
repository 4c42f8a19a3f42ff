#pragma once

/// \file
/// The disturbance of the machine by others during a scenario.

#include "harness/report/result.hpp"
#include "harness/run/steady_rounds.hpp"

namespace sluice::bench {

/// Whether others used more of the CPU time than `disturbance`. False if unknown.
inline bool wasDisturbed(const MachineRecord& record) noexcept {
    return record.others > disturbance || record.stolen > disturbance;
}

}  // namespace sluice::bench
