#pragma once

/// \file
/// Ratios to the best peers of the same run.

#include "harness/result.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// One ratio of one subject to one baseline, from paired rounds. Both series have the same number
/// of rounds, at least one.
Comparison compareRounds(const Result& subject, const Result& baseline, const std::string& role);

/// Compares every valid result of one scenario with the peer that has the lowest median as
/// documented, and with the peer that has the lowest median when paced. A baseline that is missing
/// gives no comparisons. `results` belong to one scenario; `subjects` holds the subjects of these
/// results, among others.
std::vector<Comparison> compareWithPeers(const std::vector<Result>& results,
                                         const std::vector<Subject>& subjects);

/// Compares every valid result of one scenario with the one of `baseline`, if that is there.
std::vector<Comparison> compareWith(const std::vector<Result>& results, const std::string& baseline,
                                    const std::string& role);

/// What the results and comparisons of one scenario say of the targets that they can judge.
std::vector<Verdict> judge(const std::vector<Target>& targets, const std::vector<Result>& results,
                           const std::vector<Comparison>& comparisons);

}  // namespace sluice::bench
