#pragma once

#include "harness/round.hpp"
#include "harness/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::bench {

/// One round of latency under load. The load is a part of the throughput that the subject has at
/// this moment: a figure from minutes ago may come from a machine that was faster or slower.
inline Round loadedRound(Round (*throughput)(const RoundPlan&),
                         Round (*loadedLatency)(const RoundPlan&), RoundPlan plan) {
    RoundPlan calibration = plan;
    calibration.messages = std::max<std::uint64_t>(20000, plan.messages / 10);
    std::vector<double> figures;
    for (int i = 0; i < 3; ++i) {
        Round round = throughput(calibration);
        if (!round.error.empty()) {
            return round;
        }
        figures.push_back(round.ns);
    }
    plan.intervalNs = median(figures) / plan.load;
    plan.messages = std::uint64_t(plan.sendingNs / plan.intervalNs);
    return loadedLatency(plan);
}

}  // namespace sluice::bench
