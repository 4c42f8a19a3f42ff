#include "scenarios/suite.hpp"

#include "harness/comparison.hpp"
#include "harness/cpu_share.hpp"
#include "harness/machine.hpp"
#include "harness/progress_line.hpp"

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
          scenarioFilter_(options.scenarioFilter),
          subjectFilter_(options.subjectFilter) {}

    Report run() {
        Report report;
        report.environment = describeEnvironment(cpus_);
        report.repetition = options_.repetition;
        report.quick = options_.quick;
        for (const Subject& subject : suite_.subjects) {
            if (isSelected(subject)) {
                report.subjects.push_back(subject);
            }
        }
        printEnvironment(out_, report.environment);
        for (const Scenario& scenario : suite_.scenarios) {
            if (std::regex_search(scenario.name, scenarioFilter_)) {
                runScenario(scenario, report);
            }
        }
        out_ << '\n';
        printVerdicts(out_, report.verdicts);
        printScaling(out_, report.results, suite_.scaling);
        printAbsent(out_, report.subjects);
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

    void runScenario(const Scenario& scenario, Report& report) {
        const std::vector<Named> entrants = entrantsOf(scenario);
        if (entrants.empty()) {
            return;
        }
        progress_.begin(scenario.name);
        const CpuShare share;
        std::vector<Series> series = measure(scenario, entrants);
        progress_.end();
        const MachineRecord machine = recordMachine(
            scenario, {series.begin() + std::ptrdiff_t(entrants.size()), series.end()}, share);
        std::vector<Result> results;
        for (std::size_t i = 0; i < entrants.size(); ++i) {
            results.push_back(makeResult(scenario, entrants[i].subject, entrants[i].entrant.plan,
                                         std::move(series[i]), machine, options_.quick));
        }
        publish(std::move(results), machine, report);
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
        return interleave(entries, options_.repetition,
                          [this](std::size_t done, std::size_t all) { progress_.show(done, all); });
    }

    static MachineRecord recordMachine(const Scenario& scenario, const std::vector<Series>& machine,
                                       const CpuShare& share) {
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
        return record;
    }

    void publish(std::vector<Result> results, const MachineRecord& machine, Report& report) {
        const std::vector<Comparison> comparisons = suite_.compare(results);
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
