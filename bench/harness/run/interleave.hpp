#pragma once

/// \file
/// Runs all subjects of one scenario round by round instead of one after the other.

#include "harness/machine/perf_counters.hpp"
#include "harness/machine/usage.hpp"
#include "harness/run/round.hpp"
#include "harness/run/steady_rounds.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::bench {

/// The raw values of one measured round, without its samples.
struct RoundRecord {
    /// The number among the measured rounds, and the turn among the entries of this round.
    std::size_t index = 0;
    std::size_t place = 0;

    /// The process in which it ran, if there are several.
    std::size_t process = 0;
    double ns = 0;

    /// The parts of the CPU time of the whole round, 0 to 1, that other processes and machines
    /// used. Negative if unknown.
    double others = -1;
    double stolen = -1;
    double timedNs = 0;
    std::uint64_t clockReads = 0;
    std::uint64_t timedMessages = 0;
    Counts counts;
    std::uint64_t lateSends = 0;
    std::optional<std::uint64_t> allocations;
    Usage usage;
    PerfCounts perf;
};

/// All measured rounds of one subject; warm-up rounds are not among them.
struct Series {
    std::vector<RoundRecord> records;

    /// The value of each round, in order: rounds of two subjects with the same index form a pair.
    std::vector<double> roundNs;

    /// Latency only: the samples of all rounds together.
    std::vector<double> samples;

    /// Latency only: the P99 of each round. Their median is the P99 of a round
    /// without a stall of the machine. The P99 of all samples includes such stalls.
    std::vector<double> roundP99;

    /// Loaded latency only: the time between two sends in each round.
    std::vector<double> roundIntervalNs;

    Counts counts;
    std::uint64_t timedOut = 0;
    std::uint64_t lost = 0;
    std::uint64_t lateSends = 0;
    std::size_t roundsBehindSchedule = 0;

    /// The rounds that did not count, because the machine was not steady.
    std::size_t discardedRounds = 0;

    /// The first error of any round or warm-up. Empty if there was none.
    std::string error;
};

struct Repetition {
    std::size_t warmups = 3;
    std::size_t rounds = 10;

    /// The most additional rounds while a series is unreliable.
    std::size_t extraRounds = 0;

    /// The row of the Latin square for the first measured round. Each process continues with the
    /// row after the last one of the process before.
    std::size_t firstRow = 0;

    /// No round begins after this time, except the first fewestToRank rounds. 0 is no limit.
    double budgetNs = 0;

    /// No round begins after this time, except the first measured round. 0 is no limit.
    double longestNs = 0;

    /// While a scenario takes no longer than this, more rounds replace those that were not steady.
    double untilQuietNs = 0;
};

/// Above this spread of its rounds (standard deviation / mean) a series is unreliable.
inline constexpr double unreliableCv = 0.3;
bool isUnreliable(const Series& series);

/// Called before each single run with the number of runs done and of all runs.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

/// Runs every entry once per round, in an order that changes from round to round (see
/// balancedOrder()). An entry that fails is not run again; its series says why. An interruption
/// ends the run, and leaves out the unfinished round, so that all series have the same rounds.
///
/// `conditions` is called before the first round and after each round. It returns the conditions
/// since its last call. With untilQuietNs only steady rounds count. If the time is over before
/// enough rounds were steady, all count.
std::vector<Series> interleave(
    const std::vector<std::function<Round()>>& entries, const Repetition& repetition,
    const Progress& progress,
    const std::function<RoundConditions()>& conditions = [] { return RoundConditions{}; });

}  // namespace sluice::bench
