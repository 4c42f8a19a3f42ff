#include "scenarios/queues.hpp"

#include "adapters/queue_subjects.hpp"
#include "harness/comparison.hpp"
#include "harness/cpu_share.hpp"
#include "harness/machine.hpp"
#include "harness/progress_line.hpp"
#include "harness/report_text.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <regex>
#include <utility>

namespace sluice::bench {

namespace {

constexpr std::size_t slots = 4096;

// Load of the loaded-latency scenario, as a part of the subject's own throughput.
constexpr double load = 0.5;

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all = {
        {"queues", "spsc-8B", Kind::throughput, 8, 1, Spread::apart},
        {"queues", "spsc-64B", Kind::throughput, 64, 1, Spread::apart},
        {"queues", "mpsc-64B-1p", Kind::throughput, 64, 1, Spread::apart},
        {"queues", "mpsc-64B-2p", Kind::throughput, 64, 2, Spread::apart},
        {"queues", "mpsc-64B-4p", Kind::throughput, 64, 4, Spread::apart},
        {"queues", "mpsc-64B-2p-everywhere", Kind::throughput, 64, 2, Spread::everywhere},
        {"queues", "mpsc-64B-4p-everywhere", Kind::throughput, 64, 4, Spread::everywhere},
        {"queues", "loaded-latency-64B", Kind::loadedLatency, 64, 1, Spread::apart},
        {"queues", "idle-latency-64B", Kind::idleLatency, 64, 1, Spread::apart},
    };
    return all;
}

// Queues for one producer are compared with each other, and so are those for many; latency has them
// all.
bool takesPart(const Scenario& scenario, const Subject& subject) {
    const bool singleProducer = subject.features.topology == "spsc";
    if (scenario.name.compare(0, 4, "spsc") == 0) {
        return singleProducer;
    }
    if (scenario.name.compare(0, 4, "mpsc") == 0) {
        return !singleProducer;
    }
    return true;
}

class QueueSuite {
public:
    QueueSuite(const QueueSuiteOptions& options, const std::vector<int>& cpus, std::ostream& out)
        : options_(options), cpus_(cpus), out_(out), scenarioFilter_(options.scenarioFilter) {
        const std::regex subjectFilter(options.subjectFilter);
        for (QueueSubject& subject : queueSubjects()) {
            if (std::regex_search(subject.info.id, subjectFilter)) {
                subjects_.push_back(std::move(subject));
            }
        }
    }

    Report run() {
        Report report;
        report.environment = describeEnvironment(cpus_);
        report.repetition = options_.repetition;
        report.quick = options_.quick;
        for (const QueueSubject& subject : subjects_) {
            report.subjects.push_back(subject.info);
        }
        printEnvironment(out_, report.environment);
        for (const Scenario& scenario : scenarios()) {
            if (std::regex_search(scenario.name, scenarioFilter_)) {
                runScenario(scenario, report);
            }
        }
        out_ << '\n';
        printAbsent(out_, report.subjects);
        return report;
    }

private:
    struct Entrant {
        const QueueSubject* subject;
        RoundPlan plan;
    };

    RoundPlan planFor(const Scenario& scenario, const Subject& subject) const {
        RoundPlan plan;
        plan.placement = placeThreads(cpus_, scenario.producers, scenario.spread);
        plan.capacity = slots;
        plan.runIn = 4 * slots;
        plan.ordered = subject.features.order != "none";
        plan.messages = options_.messages;
        if (scenario.kind == Kind::idleLatency) {
            plan.messages = options_.quick ? 1000 : 5000;
        }
        return plan;
    }

    // One round of the loaded-latency scenario. The load is a part of the throughput that the
    // subject has at this moment: a figure from minutes ago may come from a machine that was faster
    // or slower.
    static Round loadedRound(const QueueRuns& runs, RoundPlan plan) {
        constexpr double roundNs = 50e6;
        RoundPlan calibration = plan;
        calibration.messages = 100000;
        std::vector<double> throughput;
        for (int i = 0; i < 3; ++i) {
            Round round = runs.throughput64(calibration);
            if (!round.error.empty()) {
                return round;
            }
            throughput.push_back(round.ns);
        }
        plan.intervalNs = median(throughput) / load;
        plan.messages = std::uint64_t(roundNs / plan.intervalNs);
        return runs.loadedLatency64(plan);
    }

    static Round runRound(const Scenario& scenario, const QueueRuns& runs, const RoundPlan& plan) {
        switch (scenario.kind) {
        case Kind::loadedLatency:
            return loadedRound(runs, plan);
        case Kind::idleLatency:
            return runs.idleLatency64(plan);
        case Kind::throughput:
            break;
        }
        return scenario.messageBytes == 8 ? runs.throughput8(plan) : runs.throughput64(plan);
    }

    void runScenario(const Scenario& scenario, Report& report) {
        std::vector<Entrant> entrants;
        for (const QueueSubject& subject : subjects_) {
            if (subject.info.absentBecause.empty() && takesPart(scenario, subject.info)) {
                entrants.push_back({&subject, planFor(scenario, subject.info)});
            }
        }
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
            results.push_back(makeResult(scenario, entrants[i].subject->info.id, entrants[i].plan,
                                         std::move(series[i]), machine, options_.quick));
        }
        publish(scenario, std::move(results), machine, report);
    }

    // The series of all entrants, then those of the measurements of the machine itself.
    std::vector<Series> measure(const Scenario& scenario, const std::vector<Entrant>& entrants) {
        std::vector<std::function<Round()>> entries;
        for (const Entrant& entrant : entrants) {
            entries.emplace_back(
                [&] { return runRound(scenario, entrant.subject->runs, entrant.plan); });
        }
        entries.emplace_back([this] { return lineOneWayRound(cpus_[0], cpus_[1]); });
        entries.emplace_back([this] { return lineStreamedRound(cpus_[0], cpus_[1]); });
        if (scenario.kind != Kind::throughput) {
            entries.emplace_back([this] { return wakefulnessRound(cpus_[0], cpus_[1]); });
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

    void publish(const Scenario& scenario, std::vector<Result> results,
                 const MachineRecord& machine, Report& report) {
        std::vector<Comparison> comparisons;
        // Under load every subject has its own rate: a ratio would compare different things.
        if (scenario.kind != Kind::loadedLatency) {
            comparisons = compareWithPeers(results, report.subjects);
        }
        printScenario(out_, results, comparisons, machine);
        report.machine.push_back(machine);
        out_.flush();
        std::move(results.begin(), results.end(), std::back_inserter(report.results));
        report.comparisons.insert(report.comparisons.end(), comparisons.begin(), comparisons.end());
    }

    const QueueSuiteOptions& options_;
    const std::vector<int>& cpus_;
    std::ostream& out_;
    const std::regex scenarioFilter_;
    QueueSubjects subjects_;
    ProgressLine progress_;
};

}  // namespace

std::vector<std::string> queueScenarioNames() {
    std::vector<std::string> names;
    for (const Scenario& scenario : scenarios()) {
        names.push_back(scenario.name);
    }
    return names;
}

std::vector<std::string> queueSubjectIds() {
    std::vector<std::string> ids;
    for (const QueueSubject& subject : queueSubjects()) {
        ids.push_back(subject.info.id);
    }
    return ids;
}

Report runQueueSuite(const QueueSuiteOptions& options, const std::vector<int>& cpus,
                     std::ostream& out) {
    return QueueSuite(options, cpus, out).run();
}

}  // namespace sluice::bench
