#include "scenarios/suite.hpp"

#include "harness/checklist.hpp"
#include "harness/comparison.hpp"
#include "harness/control_group.hpp"
#include "harness/cpu_share.hpp"
#include "harness/interruption.hpp"
#include "harness/machine.hpp"
#include "harness/progress_line.hpp"

#include <algorithm>
#include <iterator>
#include <regex>
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
          subjectFilter_(options.subjectFilter) {}

    Report run() {
        const InterruptionWatch watch;
        Report report;
        report.suite = suite_.name;
        report.arguments = options_.arguments;
        report.environment = describeEnvironment(cpus_, options_.build);
        report.repetition = options_.repetition;
        report.quick = options_.quick;
        for (const Subject& subject : suite_.subjects) {
            if (isSelected(subject)) {
                report.subjects.push_back(subject);
            }
        }
        printEnvironment(out_, report.environment);
        const std::vector<Scenario> scenarios = selectedScenarios();
        const Nanoseconds beganAt = now();
        for (std::size_t i = 0; i < scenarios.size() && !interrupted(); ++i) {
            // What one scenario did not use is there for the others.
            const double left = options_.budgetNs - double(now() - beganAt);
            repetition_.budgetNs =
                options_.budgetNs > 0 ? std::max(1.0, left / double(scenarios.size() - i)) : 0;
            runScenario(scenarios[i],
                        std::to_string(i + 1) + " of " + std::to_string(scenarios.size()), report);
        }
        report.wasInterrupted = interrupted();
        printEnd(report);
        return report;
    }

private:
    struct Named {
        std::string subject;
        Entrant entrant;
    };

    bool isSelected(const Subject& subject) const {
        return std::regex_search(subject.id, subjectFilter_);
    }

    // The control group says something only as a whole.
    std::vector<Scenario> selectedScenarios() const {
        const auto matches = [this](const Scenario& scenario) {
            return std::regex_search(scenario.name, scenarioFilter_);
        };
        const auto isControl = [](const Scenario& scenario) {
            return scenario.section == controlGroup;
        };
        const bool withControl =
            std::any_of(suite_.scenarios.begin(), suite_.scenarios.end(),
                        [&](const Scenario& each) { return isControl(each) && matches(each); });
        std::vector<Scenario> selected;
        for (const Scenario& scenario : suite_.scenarios) {
            if (isControl(scenario) ? withControl : matches(scenario)) {
                selected.push_back(scenario);
            }
        }
        return selected;
    }

    void printEnd(const Report& report) const {
        out_ << '\n';
        printControlGroup(out_, report.results);
        printVerdicts(out_, report.verdicts);
        printScaling(out_, report.results, suite_.scaling);
        printAbsent(out_, report.subjects);
        printChecklist(out_, report);
    }

    std::vector<Named> entrantsOf(const Scenario& scenario) const {
        std::vector<Named> entrants;
        for (std::size_t i = 0; i < suite_.subjects.size(); ++i) {
            const Subject& subject = suite_.subjects[i];
            if (isSelected(subject) && subject.absentBecause.empty()) {
                Entrant entrant = suite_.enter(scenario, i);
                if (entrant.run) {
                    entrants.push_back({subject.id, std::move(entrant)});
                }
            }
        }
        return entrants;
    }

    void runScenario(const Scenario& scenario, const std::string& position, Report& report) {
        std::vector<Named> entrants = entrantsOf(scenario);
        if (entrants.empty()) {
            return;
        }
        // A/A: the first one runs twice, and what the two seem to differ by is noise.
        const bool hasTwin = isRanked(scenario.kind) && scenario.kind != Kind::residentMemory;
        if (hasTwin) {
            entrants.push_back(entrants.front());
        }
        progress_.begin(scenario.name + " (" + position + ")");
        const CpuShare share;
        std::vector<Series> series = measure(scenario, entrants);
        progress_.end();
        if (series.front().roundNs.empty() && interrupted()) {
            return;
        }
        const MachineRecord machine = recordMachine(
            scenario, {series.begin() + std::ptrdiff_t(entrants.size()), series.end()}, share,
            report.environment.clockNs);
        std::vector<Result> results;
        for (std::size_t i = 0; i < entrants.size(); ++i) {
            results.push_back(makeResult(scenario, entrants[i].subject, entrants[i].entrant.plan,
                                         std::move(series[i]), machine,
                                         {options_.quick, interrupted(), -1}));
        }
        if (hasTwin) {
            compareTwins(results, report);
        }
        publish(std::move(results), machine, report);
    }

    // Takes the twin out again.
    static void compareTwins(std::vector<Result>& results, Report& report) {
        const Result twin = std::move(results.back());
        results.pop_back();
        if (!isInvalid(twin) && !isInvalid(results.front())) {
            report.noiseFloors.push_back(noiseFloorOf(results.front(), twin));
        }
    }

    // The series of all entrants, then those of the measurements of the machine itself.
    std::vector<Series> measure(const Scenario& scenario, const std::vector<Named>& entrants) {
        std::vector<std::function<Round()>> entries;
        for (const Named& each : entrants) {
            entries.push_back(each.entrant.run);
        }
        entries.emplace_back([this] { return lineOneWayRound(cpus_[0], cpus_[1]); });
        entries.emplace_back([this] { return lineStreamedRound(cpus_[0], cpus_[1]); });
        if (std::function<Round()> alone = suite_.machineAlone(scenario)) {
            entries.push_back(std::move(alone));
        }
        return interleave(entries, repetition_,
                          [this](std::size_t done, std::size_t all) { progress_.show(done, all); });
    }

    static MachineRecord recordMachine(const Scenario& scenario, const std::vector<Series>& machine,
                                       const CpuShare& share, double clockNs) {
        MachineRecord record;
        record.scenario = scenario.name;
        record.lineOneWay = summarize(machine[0].roundNs);
        record.lineStreamed = summarize(machine[1].roundNs);
        if (machine.size() > 2) {
            record.noQueue = summarize(machine[2].samples);
            record.noQueueRoundP99 = median(machine[2].roundP99);
        }
        record.others = share.others();
        record.stolen = share.stolen();
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
        const std::vector<Verdict> verdicts = judge(suite_.targets, results, comparisons);
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
    Repetition repetition_;
    const std::regex scenarioFilter_;
    const std::regex subjectFilter_;
    ProgressLine progress_;
};

}  // namespace

Report runSuite(const Suite& suite, const SuiteOptions& options, const std::vector<int>& cpus,
                std::ostream& out) {
    return SuiteRun(suite, options, cpus, out).run();
}

}  // namespace sluice::bench
