#pragma once

/// \file
/// Chooses the rounds that count. Only the machine decides, never the figures of the subjects.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sluice::bench {

/// The largest part of the CPU time that others may use without a remark.
inline constexpr double disturbance = 0.02;

/// The machine was steady if its longest time of a cache line is at most this many times its
/// shortest one.
inline constexpr double steadyFactor = 1.5;

/// The machine during one round.
struct RoundConditions {
    /// The times of a cache line before and after the round. 0 if they were not measured.
    double shortestLineNs = 0;
    double longestLineNs = 0;

    /// Parts of the CPU time, 0 to 1, that other processes and machines used. Negative if unknown.
    double others = -1;
    double stolen = -1;
};

/// Marks the largest group of undisturbed rounds in which the time of a cache line was the same up
/// to `steadyFactor`.
inline std::vector<bool> steadyRounds(const std::vector<RoundConditions>& rounds) {
    const auto isWithin = [](const RoundConditions& round, double shortest) {
        return round.others <= disturbance && round.stolen <= disturbance &&
               round.shortestLineNs >= shortest && round.longestLineNs <= steadyFactor * shortest;
    };
    std::vector<bool> largest(rounds.size());
    for (const RoundConditions& first : rounds) {
        std::vector<bool> group;
        for (const RoundConditions& round : rounds) {
            group.push_back(isWithin(round, first.shortestLineNs));
        }
        if (std::count(group.begin(), group.end(), true) >
            std::count(largest.begin(), largest.end(), true)) {
            largest = group;
        }
    }
    return largest;
}

}  // namespace sluice::bench
