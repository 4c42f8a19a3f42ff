#pragma once

/// \file
/// Ratios to the best peers of the same run.

#include "harness/report/result.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// One ratio of one subject to one baseline, from paired rounds. Both results are of one kind and
/// one scenario (else std::invalid_argument) and have the same number of rounds, at least one.
Comparison compareRounds(const Result& subject, const Result& baseline, const std::string& role);

/// Two subjects that differ by less than this factor for certain are called the same.
inline constexpr double sameFactor = 1.05;

/// "faster" or "slower" when the whole interval lies beyond 1 and beyond the noise floor, "same"
/// when it lies within `sameFactor` of 1, else "undecided".
std::string verdictOf(const Interval& interval, double noiseFloor);

/// A subject entered twice; both results are valid.
NoiseFloor noiseFloorOf(const Result& first, const Result& twin);

/// Fills in the parts of the comparisons that come from elsewhere: the noise floor, with it the
/// verdicts, and the features in which the subjects differ.
void complete(std::vector<Comparison>& comparisons, const NoiseFloor* noise,
              const std::vector<Subject>& subjects);

/// "order: each producer / none", for each feature in which the first differs from the second.
std::vector<std::string> featureDifferences(const Features& first, const Features& second);

/// Compares every valid result of one scenario with the peer that has the lowest median as
/// documented, and with the peer that has the lowest median when paced. A baseline that is missing
/// gives no comparisons, and neither does a kind that is not ranked. `results` belong to one
/// scenario; `subjects` holds the subjects of these results, among others.
std::vector<Comparison> compareWithPeers(const std::vector<Result>& results,
                                         const std::vector<Subject>& subjects);

/// Compares every valid result of one scenario with the one of `baseline`, if that is there.
std::vector<Comparison> compareWith(const std::vector<Result>& results, const std::string& baseline,
                                    const std::string& role);

/// The verdicts on the targets that the results and comparisons of one scenario can judge.
std::vector<Verdict> judge(const std::vector<Target>& targets, const std::vector<Result>& results,
                           const std::vector<Comparison>& comparisons);

}  // namespace sluice::bench
