#pragma once

/// \file
/// The scenarios of queues: with and without a consumer, at several depths, sizes of messages,
/// loads and numbers of producers. It knows no queue.

#include "harness/machine/topology.hpp"
#include "harness/report/result.hpp"
#include "harness/run/subject.hpp"

#include <vector>

namespace sluice::bench {

/// `places` are those of the CPUs, in the order in which threads take them; `unpinned`: the threads
/// take none.
std::vector<Scenario> queueScenarios(bool quick, bool unpinned,
                                     const std::vector<CpuPlace>& places);

/// Whether several consumers share the messages.
bool isSharing(const Scenario& scenario);

/// Queues for one producer are compared with each other, and so are those for many; latency has
/// them all.
bool takesPart(const Scenario& scenario, const Subject& subject);

}  // namespace sluice::bench
