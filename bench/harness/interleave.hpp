#pragma once

/// \file
/// Runs all subjects of one scenario round by round instead of one after the other.

#include "harness/round.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::bench {

/// All measured rounds of one subject; warm-up rounds are not among them.
struct Series {
    /// The value of each round, in order: rounds of two subjects with the same index form a pair.
    std::vector<double> roundNs;

    /// Latency only: the samples of all rounds together.
    std::vector<double> samples;

    /// Latency only: the P99 of each round. The median of these is what a round without a stall of
    /// the machine looks like; the P99 of all samples together includes such stalls.
    std::vector<double> roundP99;

    /// Loaded latency only: the distance of two sends in each round.
    std::vector<double> roundIntervalNs;

    Counts counts;
    std::uint64_t timedOut = 0;
    std::size_t roundsBehindSchedule = 0;

    /// How often its threads lost their CPU without asking for it.
    std::uint64_t involuntarySwitches = 0;

    /// The first error of any round, warm-ups included; empty when there was none.
    std::string error;
};

struct Repetition {
    std::size_t warmups = 3;
    std::size_t rounds = 10;
};

/// Called before each single run with the number of runs done and of all runs.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

/// Runs every entry once per round, in an order that rotates from round to round. An entry that
/// fails is not run again; its series says why.
std::vector<Series> interleave(const std::vector<std::function<Round()>>& entries,
                               const Repetition& repetition, const Progress& progress);

}  // namespace sluice::bench
