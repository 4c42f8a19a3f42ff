#pragma once

/// \file
/// The suite "memory": allocating and freeing, on one thread and across two, and the memory it
/// takes.

#include "scenarios/suite.hpp"

namespace sluice::bench {

/// `cpus` holds at least two CPUs; scenarios with one thread run on the calling one.
Suite memorySuite(const SuiteOptions& options, const std::vector<int>& cpus);

}  // namespace sluice::bench
