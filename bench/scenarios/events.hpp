#pragma once

/// \file
/// The suite "events": calling listeners, adding and removing them, and queues of events.

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// `cpus` holds at least two CPUs; the calling thread takes part in every round.
Suite eventSuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
