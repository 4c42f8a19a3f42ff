#pragma once

#include "harness/run/round.hpp"
#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::bench {

/// Measures the subject's present time for a message by throughput(): an older figure may come from
/// a machine that was faster or slower. Returns a round with an error unchanged, otherwise
/// then(nanoseconds).
template <class Then>
Round calibrated(Round (*throughput)(const RoundPlan&), RoundPlan plan, const Then& then) {
    plan.messages = std::max<std::uint64_t>(20000, plan.messages / 10);
    std::vector<double> figures;
    for (int i = 0; i < 3; ++i) {
        Round round = throughput(plan);
        if (!round.error.empty()) {
            return round;
        }
        figures.push_back(round.ns);
    }
    return then(median(figures));
}

/// One round of latency under load. The load is a part of the throughput that the subject has.
inline Round loadedRound(Round (*throughput)(const RoundPlan&),
                         Round (*loadedLatency)(const RoundPlan&), RoundPlan plan) {
    return calibrated(throughput, plan, [&](double ns) {
        plan.intervalNs = ns / plan.load;
        plan.messages = std::uint64_t(plan.sendingNs / plan.intervalNs);
        return loadedLatency(plan);
    });
}

/// One round of throughput with as many messages as take about `plan.sendingNs`.
inline Round sustainedRound(Round (*throughput)(const RoundPlan&), RoundPlan plan) {
    return calibrated(throughput, plan, [&](double ns) {
        plan.messages = std::uint64_t(plan.sendingNs / ns);
        return throughput(plan);
    });
}

}  // namespace sluice::bench
