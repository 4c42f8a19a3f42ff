#pragma once

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// Records of one thread and of several, from the call until they are in the file.
Suite logSuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
