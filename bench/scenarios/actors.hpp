#pragma once

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// Objects whose handlers run on threads of their library.
Suite actorSuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
