#pragma once

/// \file
/// Three figures of each queue that a reader must see side by side.

#include "harness/report/result.hpp"

#include <ostream>
#include <regex>
#include <vector>

namespace sluice::bench {

/// Whether a filter selects this scenario by its name. The control group runs as a whole or not at
/// all.
bool isAskedFor(const Scenario& scenario, const std::vector<Scenario>& scenarios,
                const std::regex& filter);

/// One row for each subject: the time of a push with room, the apparent time without room if
/// refusals are counted, and the time of a message that a consumer receives. Prints nothing if the
/// control group did not run.
void printControlGroup(std::ostream& out, const std::vector<Result>& results);

}  // namespace sluice::bench
