#include "scenarios/suite.hpp"

#include "harness/machine/interruption.hpp"
#include "harness/report/checklist.hpp"
#include "harness/report/comparison.hpp"
#include "harness/report/control_group.hpp"
#include "harness/report/progress_line.hpp"
#include "harness/report/short_of_time.hpp"
#include "harness/report/text.hpp"
#include "scenarios/measure.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <utility>

namespace sluice::bench {

namespace {

class SuiteRun {
public:
    SuiteRun(const Suite& suite, const SuiteOptions& options, const std::vector<int>& cpus,
             std::ostream& out)
        : suite_(suite),
          options_(options),
          cpus_(cpus),
          out_(out),
          repetition_(options.repetition),
          scenarioFilter_(options.scenarioFilter),
          measuring_(suite, options, cpus) {}

    Report run() {
        const InterruptionWatch watch;
        Report report;
        report.suite = suite_.name;
        report.arguments = options_.arguments;
        report.environment = describeEnvironment(cpus_, options_.build);
        report.repetition = options_.repetition;
        report.quick = options_.quick;
        report.processes = options_.processes;
        report.unpinned = options_.unpinned;
        for (const Subject& subject : suite_.subjects) {
            report.subjects.push_back(subject);
            if (!measuring_.isSelected(subject)) {
                report.subjects.back().absentBecause = leftOutByFilter;
            }
        }
        std::vector<Scenario> scenarios = selectedScenarios(report.leftOut);
        if (scenarios.empty()) {
            return report;
        }
        if (options_.budgetNs > 0) {
            scenarios = mostUsefulFirst(std::move(scenarios));
        }
        printEnvironment(out_, report.environment);
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            if (interrupted() || isTimeUp()) {
                report.skipped.push_back({scenarios[i].name, whyStopped()});
                continue;
            }
            shareTime(scenarios.size() - i);
            runScenario(scenarios[i],
                        std::to_string(i + 1) + " of " + std::to_string(scenarios.size()), report);
        }
        report.wasInterrupted = interrupted();
        printEnd(report);
        return report;
    }

private:
    // The names of the others go to `leftOut`.
    std::vector<Scenario> selectedScenarios(std::vector<std::string>& leftOut) const {
        std::vector<Scenario> selected;
        for (const Scenario& scenario : suite_.scenarios) {
            if (isAskedFor(scenario, suite_.scenarios, scenarioFilter_) &&
                !measuring_.entrantsOf(scenario).empty()) {
                selected.push_back(scenario);
            } else {
                leftOut.push_back(scenario.name);
            }
        }
        return selected;
    }

    double timeSpent() const { return double(now() - beganAt_); }
    bool isTimeUp() const { return options_.budgetNs > 0 && timeSpent() > options_.budgetNs; }
    std::string whyStopped() const {
        return interrupted()
                   ? "the run was interrupted"
                   : format("the %.0f s of a quick run were over", options_.budgetNs / 1e9);
    }

    // The time that one scenario has not used is there for the others. A scenario that has begun
    // takes more than its share until it has enough rounds to rank, but not twice the time of all.
    void shareTime(std::size_t scenariosLeft) {
        if (options_.budgetNs > 0) {
            const double left = options_.budgetNs - timeSpent();
            repetition_.budgetNs = std::max(1.0, left / double(scenariosLeft));
            repetition_.longestNs = options_.budgetNs + left;
        }
    }

    void printEnd(const Report& report) const {
        out_ << '\n';
        printUnsteady(out_, report.machine);
        out_ << "rounds: " << roundsText(report) << '\n';
        for (const Skipped& each : report.skipped) {
            out_ << "not run: " << each.scenario << ": " << each.because << '\n';
        }
        if (!report.leftOut.empty()) {
            out_ << counted(report.leftOut.size(), "scenario")
                 << " left out by --scenario or --filter\n";
        }
        printControlGroup(out_, report.results);
        printVerdicts(out_, report.verdicts);
        printScaling(out_, report.results, suite_.scaling);
        printFeatureCosts(out_, report.results, suite_.costs);
        printAbsent(out_, report.subjects);
        printChecklist(out_, report);
    }

    void runScenario(const Scenario& scenario, const std::string& position, Report& report) {
        const std::vector<NamedEntrant> entrants = measuring_.entrantsOf(scenario);
        progress_.begin(scenario.name + " (" + position + ")");
        std::vector<Series> series = measuring_.measure(
            scenario, entrants, repetition_,
            [this](std::size_t done, std::size_t all) { progress_.show(done, all); });
        progress_.end();
        if (interrupted() && std::all_of(series.begin(), series.end(),
                                         [](const Series& each) { return each.roundNs.empty(); })) {
            report.skipped.push_back({scenario.name, whyStopped()});
            return;
        }
        const MachineRecord machine = recordMachine(
            scenario, {series.begin() + std::ptrdiff_t(entrants.size()), series.end()},
            report.environment.clockNs);
        const Conditions conditions{options_.quick, interrupted(),
                                    suite_.instructionFloor ? suite_.instructionFloor(scenario)
                                                            : -1};
        std::vector<Result> results;
        for (std::size_t i = 0; i < entrants.size(); ++i) {
            results.push_back(makeResult(scenario, entrants[i].subject, entrants[i].entrant.plan,
                                         std::move(series[i]), machine, conditions));
        }
        if (hasTwin(scenario.kind)) {
            compareTwins(results, report);
        }
        // Sizes, depths and distances do not change the allocations of a message.
        const bool isMain = scenario.section.empty() || scenario.section == controlGroup;
        if (isMain && !isTimeUp() && !interrupted()) {
            enterAllocations(scenario, results);
        }
        publish(std::move(results), machine, report);
    }

    // A side figure. If it cannot be counted, the times are still worth keeping.
    void enterAllocations(const Scenario& scenario, std::vector<Result>& results) const {
        std::map<std::string, double> counts;
        try {
            counts = measuring_.countAllocations(scenario);
        } catch (const std::runtime_error& problem) {
            out_ << "allocations were not counted: " << problem.what() << '\n';
        }
        for (Result& result : results) {
            const auto found = counts.find(result.subject);
            if (found != counts.end()) {
                result.allocationsPerMessage = found->second;
            }
        }
    }

    // A/A: the difference between a subject and itself is noise. Removes the twin.
    static void compareTwins(std::vector<Result>& results, Report& report) {
        const Result twin = std::move(results.back());
        results.pop_back();
        if (!isInvalid(twin) && !isInvalid(results.front())) {
            report.noiseFloors.push_back(noiseFloorOf(results.front(), twin));
        }
    }

    static double meanOf(const std::vector<RoundRecord>& rounds, double RoundRecord::*share) {
        double sum = 0;
        for (const RoundRecord& round : rounds) {
            sum += round.*share;
        }
        return rounds.empty() ? -1 : sum / double(rounds.size());
    }

    static MachineRecord recordMachine(const Scenario& scenario, const std::vector<Series>& machine,
                                       double clockNs) {
        MachineRecord record;
        record.scenario = scenario.name;
        record.lineOneWay = summarize(machine[0].roundNs);
        record.lineStreamed = summarize(machine[1].roundNs);
        if (machine.size() > 2) {
            record.noQueue = summarize(machine[2].samples);
            record.noQueueRoundP99 = machine[2].roundP99.empty() ? -1 : median(machine[2].roundP99);
        }
        record.others = meanOf(machine[0].records, &RoundRecord::others);
        record.stolen = meanOf(machine[0].records, &RoundRecord::stolen);
        record.discardedRounds = machine[0].discardedRounds;
        record.clockNs = clockNs;
        return record;
    }

    void publish(std::vector<Result> results, const MachineRecord& machine, Report& report) {
        std::vector<Comparison> comparisons;
        if (isRanked(results.front().scenario.kind)) {
            comparisons = suite_.compare(results);
        }
        const bool hasFloor = !report.noiseFloors.empty() &&
                              report.noiseFloors.back().scenario == results.front().scenario.name;
        complete(comparisons, hasFloor ? &report.noiseFloors.back() : nullptr, suite_.subjects);
        std::vector<Verdict> verdicts = judge(suite_.targets, results, comparisons);
        for (Verdict& each : judgeByLine(suite_.lineTargets, results, machine)) {
            verdicts.push_back(std::move(each));
        }
        printScenario(out_, results, comparisons, machine, suite_.columns);
        printVerdicts(out_, verdicts);
        out_.flush();
        report.machine.push_back(machine);
        std::move(results.begin(), results.end(), std::back_inserter(report.results));
        report.comparisons.insert(report.comparisons.end(), comparisons.begin(), comparisons.end());
        report.verdicts.insert(report.verdicts.end(), verdicts.begin(), verdicts.end());
    }

    const Suite& suite_;
    const SuiteOptions& options_;
    const std::vector<int>& cpus_;
    std::ostream& out_;
    const Nanoseconds beganAt_ = now();
    Repetition repetition_;
    const std::regex scenarioFilter_;
    const Measuring measuring_;
    ProgressLine progress_;
};

}  // namespace

Report runSuite(const Suite& suite, const SuiteOptions& options, const std::vector<int>& cpus,
                std::ostream& out) {
    if (!options.worker.empty()) {
        const InterruptionWatch watch;
        Measuring(suite, options, cpus).work(out);
        return {};
    }
    return SuiteRun(suite, options, cpus, out).run();
}

}  // namespace sluice::bench
