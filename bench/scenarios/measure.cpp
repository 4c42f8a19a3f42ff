#include "scenarios/measure.hpp"

#include "harness/machine/interruption.hpp"
#include "harness/machine/program.hpp"
#include "harness/report/series_json.hpp"
#include "harness/run/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace sluice::bench {

namespace {

// Lies beside the program.
std::string countingMalloc() {
    const std::filesystem::path path =
        std::filesystem::path(ownPath()).parent_path() / "libsluice_counting_malloc.so";
    return std::filesystem::exists(path) ? path.string() : std::string{};
}

}  // namespace

Measuring::Measuring(const Suite& suite, const SuiteOptions& options, const std::vector<int>& cpus)
    : suite_(suite), options_(options), cpus_(cpus), subjectFilter_(options.subjectFilter) {
}

bool Measuring::isSelected(const Subject& subject) const {
    return std::regex_search(subject.id, subjectFilter_);
}

std::vector<NamedEntrant> Measuring::entrantsOf(const Scenario& scenario) const {
    std::vector<NamedEntrant> entrants;
    for (std::size_t i = 0; i < suite_.subjects.size(); ++i) {
        const Subject& subject = suite_.subjects[i];
        // A subject for one producer would lose the messages of a second one.
        const bool isForOne = subject.features.topology == "spsc" && scenario.producers > 1;
        if (isSelected(subject) && subject.absentBecause.empty() && !isForOne) {
            Entrant entrant = suite_.enter(scenario, i);
            if (entrant.run) {
                entrants.push_back({subject.id, std::move(entrant)});
            }
        }
    }
    if (hasTwin(scenario.kind) && !entrants.empty()) {
        entrants.push_back(entrants.front());
    }
    return entrants;
}

std::vector<Series> Measuring::measure(const Scenario& scenario,
                                       const std::vector<NamedEntrant>& entrants,
                                       const Repetition& repetition,
                                       const Progress& progress) const {
    return options_.processes > 1 ? measureInProcesses(scenario, repetition, progress)
                                  : measureHere(scenario, entrants, repetition, progress);
}

std::vector<Series> Measuring::measureHere(const Scenario& scenario,
                                           const std::vector<NamedEntrant>& entrants,
                                           const Repetition& repetition,
                                           const Progress& progress) const {
    MachineWatch machine(cpus_[0], cpus_[1], repetition.untilQuietNs > 0);
    std::vector<std::function<Round()>> entries;
    for (const NamedEntrant& each : entrants) {
        entries.push_back(each.entrant.run);
    }
    entries.emplace_back([&machine] { return machine.line(); });
    entries.emplace_back([this] { return lineStreamedRound(cpus_[0], cpus_[1]); });
    if (std::function<Round()> alone = suite_.machineAlone(scenario)) {
        entries.push_back(std::move(alone));
    }
    return interleave(entries, repetition, progress,
                      [&machine] { return machine.sinceLastCall(); });
}

std::vector<std::string> Measuring::workerArguments(const Scenario& scenario) const {
    std::vector<std::string> arguments = {suite_.name, "--worker", scenario.name};
    if (!options_.subjectFilter.empty()) {
        arguments.insert(arguments.end(), {"--filter", options_.subjectFilter});
    }
    if (options_.unpinned) {
        arguments.emplace_back("--unpinned");
    }
    return arguments;
}

std::vector<Series> Measuring::measureInProcesses(const Scenario& scenario,
                                                  const Repetition& repetition,
                                                  const Progress& progress) const {
    const std::size_t processes = options_.processes;
    const std::size_t rounds = (repetition.rounds + processes - 1) / processes;
    std::vector<std::string> arguments = workerArguments(scenario);
    if (options_.quick) {
        arguments.emplace_back("--quick");
    }
    arguments.insert(arguments.end(), {"--rounds", std::to_string(rounds), "--messages",
                                       std::to_string(options_.messages)});
    if (repetition.untilQuietNs > 0) {
        const double seconds = repetition.untilQuietNs / 1e9 / double(processes);
        arguments.insert(arguments.end(),
                         {"--until-quiet", std::to_string(std::max(1.0, seconds))});
    }
    arguments.insert(arguments.end(), {"--first-row", ""});
    std::vector<Series> all;
    for (std::size_t process = 0; process < processes && !interrupted(); ++process) {
        progress(process, processes);
        arguments.back() = std::to_string(process * rounds);
        // The rounds have tied this thread to a CPU, and a new process would inherit that.
        allowThisThread(cpus_);
        const std::vector<NamedSeries> series = readSeries(outputOfOwnProgram(arguments));
        all.resize(std::max(all.size(), series.size()));
        for (std::size_t i = 0; i < series.size(); ++i) {
            append(all[i], series[i].series, process);
        }
    }
    return all;
}

std::map<std::string, double> Measuring::countAllocations(const Scenario& scenario) const {
    const std::string library = countingMalloc();
    const bool timesMessages = scenario.kind == Kind::throughput ||
                               scenario.kind == Kind::rawEnqueue ||
                               scenario.kind == Kind::logThroughput;
    if (!timesMessages || library.empty()) {
        return {};
    }
    std::vector<std::string> arguments = workerArguments(scenario);
    arguments.insert(arguments.end(), {"--rounds", "1", "--messages", "20000", "--quick"});
    allowThisThread(cpus_);
    std::map<std::string, double> counts;
    for (const NamedSeries& each : readSeries(outputOfOwnProgram(arguments, library))) {
        for (const RoundRecord& record : each.series.records) {
            if (record.allocations && record.timedMessages != 0) {
                counts[each.subject] = double(*record.allocations) / double(record.timedMessages);
            }
        }
    }
    return counts;
}

void Measuring::work(std::ostream& out) const {
    const auto scenario =
        std::find_if(suite_.scenarios.begin(), suite_.scenarios.end(),
                     [this](const Scenario& each) { return each.name == options_.worker; });
    if (scenario == suite_.scenarios.end()) {
        throw std::invalid_argument("there is no scenario " + options_.worker);
    }
    const std::vector<NamedEntrant> entrants = entrantsOf(*scenario);
    std::vector<Series> series =
        measureHere(*scenario, entrants, options_.repetition, [](std::size_t, std::size_t) {});
    std::vector<NamedSeries> named;
    for (std::size_t i = 0; i < series.size(); ++i) {
        named.push_back(
            {i < entrants.size() ? entrants[i].subject : std::string{}, std::move(series[i])});
    }
    out << writeSeries(named);
}

}  // namespace sluice::bench
