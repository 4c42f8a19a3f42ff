#pragma once

/// \file
/// Three figures of each queue that only say something side by side.

#include "harness/result.hpp"

#include <ostream>
#include <vector>

namespace sluice::bench {

/// One row for each subject: what a push takes when there is room, what it seems to take when there
/// is none and refusals are counted, and what a message takes that somebody receives. Nothing when
/// the control group did not run.
void printControlGroup(std::ostream& out, const std::vector<Result>& results);

}  // namespace sluice::bench
