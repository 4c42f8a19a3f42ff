#pragma once

/// \file
/// Ratios to the best peers of the same run.

#include "harness/report/result.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// One ratio of one subject to one baseline, from paired rounds. Both results have the same number
/// of rounds, at least one. It throws std::invalid_argument unless they are of one kind and one
/// scenario.
Comparison compareRounds(const Result& subject, const Result& baseline, const std::string& role);

/// Two subjects are called the same if they certainly differ by less than this factor.
inline constexpr double sameFactor = 1.05;

/// "faster" or "slower" if the whole interval lies beyond 1 and beyond the noise floor. "same" if
/// it lies within `sameFactor` of 1. Otherwise "undecided".
std::string verdictOf(const Interval& interval, double noiseFloor);

/// The noise floor from the two valid results of a subject that was entered twice.
NoiseFloor noiseFloorOf(const Result& first, const Result& twin);

/// Fills in the noise floor, the verdicts that depend on it, and the features in which the subjects
/// differ.
void complete(std::vector<Comparison>& comparisons, const NoiseFloor* noise,
              const std::vector<Subject>& subjects);

/// "order: each producer / none", for each feature in which the first differs from the second.
std::vector<std::string> featureDifferences(const Features& first, const Features& second);

/// Compares every valid result of one scenario with two peers: the peer with the lowest median as
/// documented, and the peer with the lowest median when paced. A missing baseline gives no
/// comparisons, and neither does a kind that is not ranked. `results` belong to one scenario.
/// `subjects` holds the subjects of these results, and perhaps others.
std::vector<Comparison> compareWithPeers(const std::vector<Result>& results,
                                         const std::vector<Subject>& subjects);

/// Compares every valid result of one scenario with the result of `baseline`, if there is one.
std::vector<Comparison> compareWith(const std::vector<Result>& results, const std::string& baseline,
                                    const std::string& role);

/// The verdicts on the targets that the results and comparisons of one scenario can judge.
std::vector<Verdict> judge(const std::vector<Target>& targets, const std::vector<Result>& results,
                           const std::vector<Comparison>& comparisons);

}  // namespace sluice::bench
