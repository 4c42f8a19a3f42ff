#pragma once

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// Messages to another process through a NATS server, and messages as bytes.
Suite bridgeSuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
