#pragma once

/// \file
/// Targets for a latency, as a multiple of the machine's own time for a cache line.

#include "harness/report/result.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// The target for a subject's median latency, without its read of the clock: a multiple of the time
/// of a cache line between the two CPUs.
struct LineTarget {
    std::string scenario;
    std::string subject;
    double atMost = 0;
};

/// The verdicts on the targets that the results of one scenario can judge. Empty if the clock is
/// unknown.
std::vector<Verdict> judgeByLine(const std::vector<LineTarget>& targets,
                                 const std::vector<Result>& results, const MachineRecord& machine);

}  // namespace sluice::bench
