#pragma once

/// \file
/// Targets for a latency, as a multiple of what the machine itself takes.

#include "harness/report/result.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// A subject's median latency, without the one read of the clock that is inside it, is to be at
/// most so many times what a cache line took from one CPU to the other meanwhile.
struct LineTarget {
    std::string scenario;
    std::string subject;
    double atMost = 0;
};

/// What the results of one scenario say of the targets that they can judge. Without a known clock
/// nothing.
std::vector<Verdict> judgeByLine(const std::vector<LineTarget>& targets,
                                 const std::vector<Result>& results, const MachineRecord& machine);

}  // namespace sluice::bench
