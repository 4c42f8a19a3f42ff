#include "scenarios/queues.hpp"

#include "adapters/queue_subjects.hpp"
#include "harness/comparison.hpp"
#include "harness/machine.hpp"

#include <memory>

namespace sluice::bench {

namespace {

constexpr std::size_t slots = 4096;

// Load of the loaded-latency scenario, as a part of the subject's own throughput.
constexpr double load = 0.5;

std::vector<Scenario> scenarios() {
    return {
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

RoundPlan planFor(const Scenario& scenario, const Subject& subject, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    RoundPlan plan;
    plan.placement = placeThreads(cpus, scenario.producers, scenario.spread);
    plan.capacity = slots;
    plan.runIn = 4 * slots;
    plan.ordered = subject.features.order != "none";
    plan.messages = options.messages;
    if (scenario.kind == Kind::idleLatency) {
        plan.messages = options.quick ? 1000 : 5000;
    }
    return plan;
}

// One round of the loaded-latency scenario. The load is a part of the throughput that the
// subject has at this moment: a figure from minutes ago may come from a machine that was faster
// or slower.
Round loadedRound(const QueueRuns& runs, RoundPlan plan) {
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

Round runRound(const Scenario& scenario, const QueueRuns& runs, const RoundPlan& plan) {
    switch (scenario.kind) {
    case Kind::loadedLatency:
        return loadedRound(runs, plan);
    case Kind::idleLatency:
        return runs.idleLatency64(plan);
    default:
        return scenario.messageBytes == 8 ? runs.throughput8(plan) : runs.throughput64(plan);
    }
}

}  // namespace

Suite queueSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.scenarios = scenarios();
    const auto subjects = std::make_shared<const QueueSubjects>(queueSubjects());
    for (const QueueSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const QueueSubject& subject = (*subjects)[index];
        if (!takesPart(scenario, subject.info)) {
            return {};
        }
        const RoundPlan plan = planFor(scenario, subject.info, options, cpus);
        return {plan, [=] { return runRound(scenario, (*subjects)[index].runs, plan); }};
    };
    suite.machineAlone = [=](const Scenario& scenario) -> std::function<Round()> {
        if (!hasSamples(scenario.kind)) {
            return nullptr;
        }
        return [=] { return wakefulnessRound(cpus[0], cpus[1]); };
    };
    suite.compare = [all = suite.subjects](const std::vector<Result>& results) {
        // Under load every subject has its own rate: a ratio would compare different things.
        return results.front().scenario.kind == Kind::loadedLatency
                   ? std::vector<Comparison>{}
                   : compareWithPeers(results, all);
    };
    suite.columns = peerColumns();
    return suite;
}

}  // namespace sluice::bench
