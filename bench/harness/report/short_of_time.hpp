#pragma once

/// \file
/// The order of scenarios in a run whose time is limited.

#include "harness/report/result.hpp"

#include <vector>

namespace sluice::bench {

/// Those with several producers come first, since most programs have several. The others of the
/// main part follow, and sections come last. Within each of the three the order stays.
std::vector<Scenario> mostUsefulFirst(std::vector<Scenario> scenarios);

}  // namespace sluice::bench
