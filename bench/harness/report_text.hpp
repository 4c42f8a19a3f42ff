#pragma once

/// \file
/// The tables for people.

#include "harness/result.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

/// What machine and build the figures come from.
void printEnvironment(std::ostream& out, const Environment& environment);

/// One scenario. `results` and `comparisons` belong to it. Throughput and idle latency are sorted,
/// fastest first, whoever that is; under load every subject has its own rate, so those rows keep
/// their order.
void printScenario(std::ostream& out, const std::vector<Result>& results,
                   const std::vector<Comparison>& comparisons, const MachineRecord& machine);

/// The subjects that were not compiled in.
void printAbsent(std::ostream& out, const std::vector<Subject>& subjects);

}  // namespace sluice::bench
