/// \file
/// sluice_bench: the measuring program behind `./dev bench`.
/// Exit status: 0 when every result is valid, 1 when one is not, 2 when it could not start.

#include "harness/affinity.hpp"
#include "harness/report_json.hpp"
#include "scenarios/events.hpp"
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

namespace {

using namespace sluice::bench;

constexpr int exitInvalid = 1;
constexpr int exitUsage = 2;
constexpr std::size_t fewestRounds = 10;

struct Arguments {
    SuiteOptions suite;
    std::string jsonPath;
    bool list = false;
};

using MakeSuite = Suite (*)(const SuiteOptions& options, const std::vector<int>& cpus);

void addOptions(CLI::App& app, Arguments& arguments) {
    SuiteOptions& suite = arguments.suite;
    app.add_flag("--quick", suite.quick, "A short run, marked as such; not for publication");
    app.add_option("--json", arguments.jsonPath, "Write the report to this file as JSON");
    app.add_option("--rounds", suite.repetition.rounds,
                   "Measured rounds, at least 10; 3 with --quick")
        ->check(CLI::Range(1, 10000));
    app.add_option("--messages", suite.messages, "Messages, or calls, in one round")
        ->check(CLI::Range(10000, 1000000000));
    app.add_option("--filter", suite.subjectFilter, "Only subjects whose id matches this regex");
    app.add_option("--scenario", suite.scenarioFilter,
                   "Only scenarios whose name matches this regex");
    app.add_flag("--list", arguments.list, "List scenarios and subjects, run nothing");
}

// What the options mean together. Throws std::invalid_argument with one line for the user.
void completeArguments(Arguments& arguments, bool roundsGiven, bool messagesGiven) {
    SuiteOptions& suite = arguments.suite;
    if (suite.quick) {
        suite.repetition.warmups = 1;
        suite.repetition.rounds = roundsGiven ? suite.repetition.rounds : 3;
        suite.messages = messagesGiven ? suite.messages : 200000;
    } else if (suite.repetition.rounds < fewestRounds) {
        throw std::invalid_argument("--rounds " + std::to_string(suite.repetition.rounds) +
                                    ": fewer than 10 rounds need --quick");
    }
    for (const std::string& filter : {suite.subjectFilter, suite.scenarioFilter}) {
        try {
            std::regex{filter};
        } catch (const std::regex_error&) {
            throw std::invalid_argument("'" + filter + "' is not a regular expression");
        }
    }
}

int listAll(const Suite& suite) {
    for (const Scenario& scenario : suite.scenarios) {
        std::cout << "scenario " << scenario.name << '\n';
    }
    for (const Subject& subject : suite.subjects) {
        std::cout << "subject " << subject.id << '\n';
    }
    return 0;
}

int run(MakeSuite makeSuite, const Arguments& arguments) {
    const std::vector<int> cpus = allowedCpus();
    if (arguments.list) {
        return listAll(makeSuite(arguments.suite, cpus));
    }
    if (cpus.size() < 2) {
        throw std::invalid_argument("two CPUs are needed, this process may use " +
                                    std::to_string(cpus.size()));
    }
    // Before the run, and without harm to an older report: a bad path should not cost minutes.
    const std::string& path = arguments.jsonPath;
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
        throw std::invalid_argument("cannot write " + path);
    }
    const Report report =
        runSuite(makeSuite(arguments.suite, cpus), arguments.suite, cpus, std::cout);
    if (report.results.empty()) {
        throw std::invalid_argument("no subject and scenario match the filters");
    }
    if (!path.empty()) {
        std::ofstream json(path);
        if (!(json << toJson(report).dump(2) << '\n').flush()) {
            throw std::invalid_argument("cannot write " + path);
        }
    }
    const auto invalid = std::count_if(report.results.begin(), report.results.end(), isInvalid);
    if (invalid != 0) {
        std::cerr << "sluice_bench: " << invalid << " results are INVALID\n";
    }
    return invalid == 0 ? 0 : exitInvalid;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures Sluice beside other libraries.", "sluice_bench");
    app.require_subcommand(1);
    Arguments arguments;
    const std::pair<CLI::App*, MakeSuite> suites[] = {
        {app.add_subcommand("queues", "Queues between threads"), &queueSuite},
        {app.add_subcommand("memory", "Pools and allocators"), &memorySuite},
        {app.add_subcommand("events", "Callback lists, dispatchers and event queues"), &eventSuite},
    };
    for (const auto& [command, make] : suites) {
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
        std::cerr << "sluice_bench: name a suite: queues, memory or events\n";
        return exitUsage;
    } catch (const std::exception& error) {
        std::cerr << "sluice_bench: " << error.what() << '\n';
        return exitUsage;
    }
}
