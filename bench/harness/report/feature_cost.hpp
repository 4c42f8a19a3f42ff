#pragma once

/// \file
/// The cost of a feature: the same work with it and without it, in the same rounds.

#include "harness/report/result.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

/// Two subjects that differ in one feature.
struct FeatureCost {
    std::string feature;
    std::string with;
    std::string without;
};

/// Nanoseconds that a message takes more with the feature: the median over the rounds of the
/// differences, each taken from two runs of the same round, and where that median lies.
struct Difference {
    double ns = 0;
    Interval interval;
};

/// Both results are valid, of one scenario, and have at least one round.
Difference differenceOf(const Result& with, const Result& without);

/// The same as ratios, for the report: those of one scenario, with the role "cost of <feature>".
std::vector<Comparison> compareFeatures(const std::vector<Result>& results,
                                        const std::vector<FeatureCost>& costs);

/// A table for each scenario of the main section that times whole messages and has such pairs.
void printFeatureCosts(std::ostream& out, const std::vector<Result>& results,
                       const std::vector<FeatureCost>& costs);

}  // namespace sluice::bench
