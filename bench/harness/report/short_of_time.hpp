#pragma once

/// \file
/// The order of scenarios in a run whose time is limited.

#include "harness/report/result.hpp"

#include <vector>

namespace sluice::bench {

/// Scenarios with several producers come first, because most programs have several. Then come the
/// others of the main part, and at last the sections. Within each of these groups the order stays.
std::vector<Scenario> mostUsefulFirst(std::vector<Scenario> scenarios);

}  // namespace sluice::bench
