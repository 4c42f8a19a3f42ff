#pragma once

/// \file
/// A round on the calling thread whose books must balance.

#include "harness/affinity.hpp"
#include "harness/round.hpp"

namespace sluice::bench {

/// Pins the thread, runs `work(round)`, which returns the books, and checks those.
template <class Work>
Round bookedRound(const RoundPlan& plan, Work&& work) {
    Round round;
    if (!pinThisThread(plan.placement.consumerCpu)) {
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
