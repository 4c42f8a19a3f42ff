#pragma once

/// \file
/// The tables for people.

#include "harness/report/result.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

/// Prints the machine and the build of the figures.
void printEnvironment(std::ostream& out, const Environment& environment);

/// A column with the ratios of this role.
struct RatioColumn {
    std::string role;
    std::string heading;  ///< short
};
using RatioColumns = std::vector<RatioColumn>;

/// "/ peer" and "/ paced", for compareWithPeers().
RatioColumns peerColumns();

/// Prints one scenario. `results` and `comparisons` belong to it. The best row comes first.
/// Exception: under load each subject has its own rate, so the rows keep their order.
void printScenario(std::ostream& out, const std::vector<Result>& results,
                   const std::vector<Comparison>& comparisons, const MachineRecord& machine,
                   const RatioColumns& columns);

/// Prints nothing if the machine was steady in each scenario.
void printUnsteady(std::ostream& out, const std::vector<MachineRecord>& machine);

/// Prints a line for each target, and whether it was met.
void printVerdicts(std::ostream& out, const std::vector<Verdict>& verdicts);

/// Prints the subjects that were not compiled in, and those that the filter leaves out.
void printAbsent(std::ostream& out, const std::vector<Subject>& subjects);

}  // namespace sluice::bench
