#pragma once

/// \file
/// The common part of all suites: subjects in scenarios, filters, tables, and a report.

#include "harness/machine/affinity.hpp"
#include "harness/report/feature_cost.hpp"
#include "harness/report/line_target.hpp"
#include "harness/report/report_text.hpp"
#include "harness/report/result.hpp"
#include "harness/report/scaling.hpp"

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

struct SuiteOptions {
    Repetition repetition;
    bool quick = false;

    /// Messages of one timed throughput round, or calls of one round of small blocks.
    std::uint64_t messages = 1000000;

    /// Regular expressions of ECMAScript, matched anywhere; an empty one selects everything.
    std::string subjectFilter;
    std::string scenarioFilter;

    /// The rounds are divided among so many processes, one after the other: each one has another
    /// layout of its memory, and that alone can make a difference.
    std::size_t processes = 1;

    /// Such a process: the scenario whose rounds it runs. It writes its series and no report.
    std::string worker;

    /// Threads are tied to no CPU: a variant, marked as such. The machine itself is still measured
    /// between two CPUs.
    bool unpinned = false;

    /// The whole suite tries to be done in this time and runs fewer rounds where it must; 0 is no
    /// limit.
    double budgetNs = 0;

    /// The arguments of the program.
    std::vector<std::string> arguments;
    BuildRecord build;
};

/// Where the threads of a scenario run.
inline Placement placementFor(const Scenario& scenario, const SuiteOptions& options,
                              const std::vector<int>& cpus) {
    Placement placement = placeThreads(scenario.cpus.empty() ? cpus : scenario.cpus,
                                       scenario.producers, scenario.spread);
    if (options.unpinned) {
        placement.roaming = cpus;
    }
    return placement;
}

/// One subject's part in one scenario.
struct Entrant {
    RoundPlan plan;
    std::function<Round()> run;  ///< null when the subject takes no part
};

/// The parts of a suite. runSuite() runs it.
struct Suite {
    std::string name;
    std::vector<Scenario> scenarios;

    /// Those whose library is absent are listed and never entered.
    std::vector<Subject> subjects;

    /// The work of the subject with that index in a scenario.
    std::function<Entrant(const Scenario&, std::size_t subject)> enter;

    /// The latencies of a scenario without anything to measure, or null.
    std::function<std::function<Round()>(const Scenario&)> machineAlone;

    /// Instructions that a message of the scenario takes at least, or null; see instructionFloor().
    std::function<double(const Scenario&)> instructionFloor;

    /// The ratios within one scenario, and the columns that show them.
    std::function<std::vector<Comparison>(const std::vector<Result>&)> compare;
    RatioColumns columns;
    std::vector<Target> targets;
    std::vector<LineTarget> lineTargets;

    /// The same work on one thread and on two; may be empty.
    std::vector<ScalingPair> scaling;

    /// The same work with a feature and without it; may be empty.
    std::vector<FeatureCost> costs;
};

/// Runs a suite, printing each table as soon as its scenario is done. `cpus` holds at least two
/// CPUs, in the order in which threads take them; the calling thread is pinned by the rounds and
/// stays pinned. Throws std::regex_error for a filter that is not a regular expression.
Report runSuite(const Suite& suite, const SuiteOptions& options, const std::vector<int>& cpus,
                std::ostream& out);

}  // namespace sluice::bench
