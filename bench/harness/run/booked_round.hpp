#pragma once

/// \file
/// A round on the calling thread whose books must balance.

#include "harness/machine/affinity.hpp"
#include "harness/run/round.hpp"

namespace sluice::bench {

/// Puts the thread into its place, runs `work(round)`, and checks the books that it returns.
template <class Work>
Round bookedRound(const RoundPlan& plan, Work&& work) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.consumerCpu)) {
        round.error = "the thread could not be pinned to its CPU";
        return round;
    }
    round.counts = work(round);
    if (round.error.empty()) {
        round.error = complaint(round.counts, plan.ordered);
    }
    return round;
}

}  // namespace sluice::bench
