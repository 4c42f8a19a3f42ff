/// \file
/// sluice_bench: the measuring program behind `./dev bench`.
/// Exit status: 0 when every result is valid, 1 when one is not, 2 when it could not start, 130
/// when it was interrupted.

#include "build_record.hpp"
#include "harness/machine/affinity.hpp"
#include "harness/machine/topology.hpp"
#include "harness/report/report_json.hpp"
#include "harness/report/text.hpp"
#include "scenarios/actors.hpp"
#include "scenarios/bridge.hpp"
#include "scenarios/bus.hpp"
#include "scenarios/events.hpp"
#include "scenarios/logs.hpp"
#include "scenarios/memory.hpp"
#include "scenarios/queues.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sluice::bench;

constexpr int exitInvalid = 1;
constexpr int exitUsage = 2;
constexpr int exitInterrupted = 130;

// Leaves time for the rest: a quick run is over within a minute.
constexpr double quickBudgetNs = 30e9;

struct Arguments {
    SuiteOptions suite;
    std::string jsonPath;
    double untilQuietSeconds = 0;
    bool list = false;
};

using MakeSuite = Suite (*)(const SuiteOptions& options, const std::vector<int>& cpus);

void addOptions(CLI::App& app, Arguments& arguments) {
    SuiteOptions& suite = arguments.suite;
    app.add_flag("--quick", suite.quick,
                 "Make a short run; its results are marked, and not for publication");
    app.add_option("--json", arguments.jsonPath, "Write the report to this file as JSON");
    app.add_option("--rounds", suite.repetition.rounds,
                   "Number of measured rounds: at least 10, or 6 with --quick")
        ->check(CLI::Range(1, 10000));
    app.add_option("--messages", suite.messages, "Number of messages, or calls, in one round")
        ->check(CLI::Range(10000, 1000000000));
    app.add_option("--filter", suite.subjectFilter,
                   "Run only subjects whose id matches this regular expression");
    app.add_option("--scenario", suite.scenarioFilter,
                   "Run only scenarios whose name matches this regular expression");
    app.add_option("--processes", suite.processes,
                   "Divide the rounds among this many new processes")
        ->check(CLI::Range(1, 100));
    app.add_flag("--unpinned", suite.unpinned,
                 "Do not tie threads to CPUs; the results are marked, and not for publication");
    app.add_option(
           "--until-quiet", arguments.untilQuietSeconds,
           "Replace rounds in which CPU time was stolen, or the time of a cache line changed; "
           "begin no further round after this many seconds of a scenario")
        ->check(CLI::Range(1, 86400));
    app.add_option("--worker", suite.worker, "")->group("");
    app.add_option("--first-row", suite.repetition.firstRow, "")->group("");
    app.add_flag("--list", arguments.list, "List scenarios and subjects without running them");
}

// Completes options that depend on each other. Throws std::invalid_argument with one line for the
// user.
void completeArguments(Arguments& arguments, bool roundsGiven, bool messagesGiven) {
    SuiteOptions& suite = arguments.suite;
    suite.repetition.untilQuietNs = 1e9 * arguments.untilQuietSeconds;
    if (suite.quick) {
        suite.repetition.warmups = 1;
        suite.repetition.rounds = roundsGiven ? suite.repetition.rounds : 6;
        suite.messages = messagesGiven ? suite.messages : 50000;
        suite.budgetNs = quickBudgetNs;
    } else if (suite.repetition.rounds < fewestRounds && suite.worker.empty()) {
        throw std::invalid_argument("--rounds " + std::to_string(suite.repetition.rounds) +
                                    ": fewer than 10 rounds need --quick");
    } else if (suite.worker.empty() && suite.processes == 1) {
        suite.repetition.extraRounds = suite.repetition.rounds;
    }
    for (const std::string& filter : {suite.subjectFilter, suite.scenarioFilter}) {
        try {
            std::regex{filter};
        } catch (const std::regex_error&) {
            throw std::invalid_argument("'" + filter + "' is not a regular expression");
        }
    }
}

void listAll(const Suite& suite) {
    for (const Scenario& scenario : suite.scenarios) {
        std::cout << "scenario " << scenario.name << '\n';
    }
    for (const Subject& subject : suite.subjects) {
        std::cout << "subject " << subject.id << '\n';
    }
}

template <class Items>
void append(Items& all, const Items& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// One report of several suites.
void append(Report& all, const Report& more) {
    append(all.machine, more.machine);
    append(all.subjects, more.subjects);
    append(all.results, more.results);
    append(all.comparisons, more.comparisons);
    append(all.verdicts, more.verdicts);
    append(all.noiseFloors, more.noiseFloors);
    append(all.skipped, more.skipped);
    append(all.leftOut, more.leftOut);
    all.wasInterrupted = more.wasInterrupted;
}

Report runSuites(const std::vector<MakeSuite>& suites, const SuiteOptions& options,
                 const std::vector<int>& cpus) {
    Report all = runSuite(suites.front()(options, cpus), options, cpus, std::cout);
    for (std::size_t i = 1; i < suites.size(); ++i) {
        const Suite suite = suites[i](options, cpus);
        all.suite = "all";
        if (all.wasInterrupted) {
            all.skipped.push_back({"all of " + suite.name, "the run was interrupted"});
        } else {
            append(all, runSuite(suite, options, cpus, std::cout));
        }
    }
    return all;
}

int run(const std::vector<MakeSuite>& suites, const Arguments& arguments) {
    const std::vector<int> cpus = placementOrder(placesOf(allowedCpus()));
    if (cpus.size() < 2) {
        throw std::invalid_argument("two CPUs are needed, this process may use " +
                                    std::to_string(cpus.size()));
    }
    if (arguments.list) {
        for (const MakeSuite makeSuite : suites) {
            listAll(makeSuite(arguments.suite, cpus));
        }
        return 0;
    }
    // Tries the path before the run, because a bad path should not cost minutes. An older report
    // stays as it is.
    const std::string& path = arguments.jsonPath;
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
        throw std::invalid_argument("cannot write " + path);
    }
    const Report report = runSuites(suites, arguments.suite, cpus);
    if (!arguments.suite.worker.empty()) {
        return 0;
    }
    if (report.results.empty() && !report.wasInterrupted) {
        throw std::invalid_argument("no subject and scenario match the filters");
    }
    if (!path.empty()) {
        std::ofstream json(path);
        if (!(json << toJson(report).dump(2) << '\n').flush()) {
            throw std::invalid_argument("cannot write " + path);
        }
    }
    const auto invalid = std::count_if(report.results.begin(), report.results.end(), isInvalid);
    if (report.wasInterrupted) {
        std::cerr << "sluice_bench: interrupted; the results until then are marked as partial\n";
        return exitInterrupted;
    }
    if (invalid != 0) {
        std::cerr << "sluice_bench: " << countedAre(std::size_t(invalid), "result", "INVALID")
                  << '\n';
    }
    return invalid == 0 ? 0 : exitInvalid;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures Sluice beside other libraries.", "sluice_bench");
    app.require_subcommand(1);
    Arguments arguments;
    arguments.suite.arguments.assign(argv + 1, argv + argc);
    arguments.suite.build = buildRecord();
    const std::pair<CLI::App*, std::vector<MakeSuite>> suites[] = {
        {app.add_subcommand("queues", "Queues between threads"), {&queueSuite}},
        {app.add_subcommand("memory", "Pools and allocators"), {&memorySuite}},
        {app.add_subcommand("events", "Callback lists, dispatchers and event queues"),
         {&eventSuite}},
        {app.add_subcommand("bus", "Typed messages through a bus"), {&busSuite}},
        {app.add_subcommand("actors", "Messages until an object has handled them"), {&actorSuite}},
        {app.add_subcommand("log", "Records until they are in a file"), {&logSuite}},
        {app.add_subcommand("bridge", "Messages to another process, and messages as bytes"),
         {&bridgeSuite}},
        {app.add_subcommand("all", "All suites except bridge, one after the other"),
         {&queueSuite, &memorySuite, &eventSuite, &busSuite, &actorSuite, &logSuite}},
    };
    for (const auto& [command, makers] : suites) {
        addOptions(*command, arguments);
    }
    try {
        app.parse(argc, argv);
        const auto* const chosen =
            std::find_if(std::begin(suites), std::end(suites),
                         [](const auto& suite) { return suite.first->parsed(); });
        completeArguments(arguments, chosen->first->count("--rounds") != 0,
                          chosen->first->count("--messages") != 0);
        return run(chosen->second, arguments);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::RequiredError&) {
        std::cerr << "sluice_bench: name a suite: queues, memory, events, bus, actors, log, bridge "
                     "or all\n";
        return exitUsage;
    } catch (const std::exception& error) {
        std::cerr << "sluice_bench: " << error.what() << '\n';
        return exitUsage;
    }
}
