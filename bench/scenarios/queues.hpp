#pragma once

/// \file
/// The suite "queues": throughput and latency of queues between threads.

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// `cpus` holds at least two CPUs; the calling thread is the consumer of every round.
Suite queueSuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
