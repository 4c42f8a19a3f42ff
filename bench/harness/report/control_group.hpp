#pragma once

/// \file
/// Three figures of each queue that only say something side by side.

#include "harness/report/result.hpp"

#include <ostream>
#include <regex>
#include <vector>

namespace sluice::bench {

/// Whether a filter means this one of the scenarios: by its name; but the control group runs as a
/// whole or not at all.
bool isAskedFor(const Scenario& scenario, const std::vector<Scenario>& scenarios,
                const std::regex& filter);

/// One row for each subject: what a push takes when there is room, what it seems to take when there
/// is none and refusals are counted, and what a message takes that somebody receives. Nothing when
/// the control group did not run.
void printControlGroup(std::ostream& out, const std::vector<Result>& results);

}  // namespace sluice::bench
