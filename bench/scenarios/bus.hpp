#pragma once

/// \file
/// The suite "bus": throughput and latency of typed messages, and the cost of each feature.

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// `cpus` holds at least two CPUs; the calling thread is the consumer of every round.
Suite busSuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
