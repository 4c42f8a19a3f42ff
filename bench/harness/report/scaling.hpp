#pragma once

/// \file
/// The gain from a second thread.

#include "harness/report/result.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

/// Two scenarios with the same work: on one thread, and on two threads that share the object.
struct ScalingPair {
    std::string what;
    std::string oneThread;
    std::string twoThreads;
};

/// A table for each pair of scenarios that is in the results: the wall time of one piece of work,
/// and the work of two threads as a multiple of one thread's.
void printScaling(std::ostream& out, const std::vector<Result>& results,
                  const std::vector<ScalingPair>& pairs);

}  // namespace sluice::bench
