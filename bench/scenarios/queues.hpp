#pragma once

/// \file
/// The suite "queues": throughput and latency of queues between threads.

#include "harness/result.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

struct QueueSuiteOptions {
    Repetition repetition;
    bool quick = false;

    /// Messages of one timed throughput round.
    std::uint64_t messages = 1000000;

    /// Regular expressions of ECMAScript, matched anywhere; an empty one selects everything.
    std::string subjectFilter;
    std::string scenarioFilter;
};

/// The names of all scenarios, and the ids of all subjects, in the order of the report.
std::vector<std::string> queueScenarioNames();
std::vector<std::string> queueSubjectIds();

/// Runs the suite, printing each table as soon as its scenario is done. `cpus` holds at least two
/// CPUs; the calling thread becomes the consumer of every round and stays pinned afterwards. Throws
/// std::regex_error for a filter that is not a regular expression.
Report runQueueSuite(const QueueSuiteOptions& options, const std::vector<int>& cpus,
                     std::ostream& out);

}  // namespace sluice::bench
