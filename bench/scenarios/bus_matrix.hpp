#pragma once

/// \file
/// The scenarios of the suite "bus", and the subjects of each scenario.

#include "adapters/add_bus.hpp"
#include "harness/machine/topology.hpp"
#include "harness/report/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

/// The scenario that sends three kinds of messages.
inline const std::string mixedKinds = "bus-3-kinds-64B-1p";

/// The load of a flood, as a part of the consumer's capacity.
inline constexpr double floodLoad = 2;

/// The overload: so many messages into buses with 131072 slots while nobody consumes.
inline constexpr std::uint64_t overloadMessages = 150000;
/// The end of the names of the scenarios that sum up all mixes of the overload.
inline const std::string allMixes = "-of-all-mixes-64B";

std::vector<Scenario> busScenarios(bool quick, bool unpinned, const std::vector<CpuPlace>& places);

bool takesPart(const Scenario& scenario, const BusSubject& subject);

/// The shape of the bus that a scenario asks for; null when it is the usual one, or there is none.
const BusShape* shapeFor(const Scenario& scenario, const BusSubject& subject);

/// Which messages a scenario of the flood or the overload watches.
Urgency urgencyFor(const Scenario& scenario);

}  // namespace sluice::bench
