/// \file
/// sluice_bench: the measuring program behind `./dev bench`.
/// Exit status: 0 when every result is valid, 1 when one is not, 2 when it could not start.

#include "harness/affinity.hpp"
#include "harness/report_json.hpp"
#include "scenarios/queues.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>
#include <string>

namespace {

using namespace sluice::bench;

constexpr int exitInvalid = 1;
constexpr int exitUsage = 2;
constexpr std::size_t fewestRounds = 10;

struct Arguments {
    QueueSuiteOptions queues;
    std::string jsonPath;
    bool list = false;
};

void addOptions(CLI::App& suite, Arguments& arguments) {
    QueueSuiteOptions& queues = arguments.queues;
    suite.add_flag("--quick", queues.quick, "A short run, marked as such; not for publication");
    suite.add_option("--json", arguments.jsonPath, "Write the report to this file as JSON");
    suite
        .add_option("--rounds", queues.repetition.rounds,
                    "Measured rounds, at least 10; 3 with --quick")
        ->check(CLI::Range(1, 10000));
    suite.add_option("--messages", queues.messages, "Messages in one throughput round")
        ->check(CLI::Range(10000, 1000000000));
    suite.add_option("--filter", queues.subjectFilter, "Only subjects whose id matches this regex");
    suite.add_option("--scenario", queues.scenarioFilter,
                     "Only scenarios whose name matches this regex");
    suite.add_flag("--list", arguments.list, "List scenarios and subjects, run nothing");
}

// What the options mean together. Throws std::invalid_argument with one line for the user.
void completeArguments(Arguments& arguments, bool roundsGiven, bool messagesGiven) {
    QueueSuiteOptions& queues = arguments.queues;
    if (queues.quick) {
        queues.repetition.warmups = 1;
        queues.repetition.rounds = roundsGiven ? queues.repetition.rounds : 3;
        queues.messages = messagesGiven ? queues.messages : 200000;
    } else if (queues.repetition.rounds < fewestRounds) {
        throw std::invalid_argument("--rounds " + std::to_string(queues.repetition.rounds) +
                                    ": fewer than 10 rounds need --quick");
    }
    for (const std::string& filter : {queues.subjectFilter, queues.scenarioFilter}) {
        try {
            std::regex{filter};
        } catch (const std::regex_error&) {
            throw std::invalid_argument("'" + filter + "' is not a regular expression");
        }
    }
}

int listAll() {
    for (const std::string& name : queueScenarioNames()) {
        std::cout << "scenario " << name << '\n';
    }
    for (const std::string& id : queueSubjectIds()) {
        std::cout << "subject " << id << '\n';
    }
    return 0;
}

int runQueues(const Arguments& arguments) {
    const std::vector<int> cpus = allowedCpus();
    if (cpus.size() < 2) {
        throw std::invalid_argument("two CPUs are needed, this process may use " +
                                    std::to_string(cpus.size()));
    }
    // Before the run, and without harm to an older report: a bad path should not cost minutes.
    const std::string& path = arguments.jsonPath;
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
        throw std::invalid_argument("cannot write " + path);
    }
    const Report report = runQueueSuite(arguments.queues, cpus, std::cout);
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
    CLI::App app("Measures Sluice's queues beside those of other libraries.", "sluice_bench");
    app.require_subcommand(1);
    Arguments arguments;
    CLI::App* queues = app.add_subcommand("queues", "Queues between threads");
    addOptions(*queues, arguments);
    try {
        app.parse(argc, argv);
        completeArguments(arguments, queues->count("--rounds") != 0,
                          queues->count("--messages") != 0);
        return arguments.list ? listAll() : runQueues(arguments);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::RequiredError&) {
        std::cerr << "sluice_bench: name a suite: queues\n";
        return exitUsage;
    } catch (const std::exception& error) {
        std::cerr << "sluice_bench: " << error.what() << '\n';
        return exitUsage;
    }
}
