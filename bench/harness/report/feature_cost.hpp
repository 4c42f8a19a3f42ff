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

/// The additional nanoseconds of a message with the feature: the median of the rounds' differences,
/// and the interval of this median. Each difference comes from two runs of the same round.
struct Difference {
    double ns = 0;
    Interval interval;
};

/// Both results are valid, of one scenario, and have at least one round.
Difference differenceOf(const Result& with, const Result& without);

/// The ratios of one scenario for the report, with the role "cost of <feature>".
std::vector<Comparison> compareFeatures(const std::vector<Result>& results,
                                        const std::vector<FeatureCost>& costs);

/// Prints a table for each throughput scenario of the main section that has such pairs.
void printFeatureCosts(std::ostream& out, const std::vector<Result>& results,
                       const std::vector<FeatureCost>& costs);

}  // namespace sluice::bench
