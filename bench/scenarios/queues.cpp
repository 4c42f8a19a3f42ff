#include "scenarios/queues.hpp"

#include "adapters/queue_subjects.hpp"
#include "harness/report/comparison.hpp"
#include "harness/run/instruction_floor.hpp"
#include "harness/run/machine.hpp"
#include "scenarios/loaded_round.hpp"
#include "scenarios/queue_matrix.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace sluice::bench {

namespace {

// Large messages take longer: as many fewer as keep a round about as long.
std::uint64_t messagesFor(const Scenario& scenario, const SuiteOptions& options) {
    constexpr std::size_t line = 64;
    constexpr std::uint64_t fewest = 20000;
    if (scenario.kind == Kind::loadedLatency) {
        return options.messages;  // of which a tenth calibrates
    }
    if (scenario.kind == Kind::idleLatency) {
        return options.quick ? 1000 : 5000;
    }
    return std::max(fewest, options.messages * line / std::max(line, scenario.messageBytes));
}

RoundPlan planFor(const Scenario& scenario, const Subject& subject, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    constexpr std::size_t overflowFactor = 8;
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    plan.capacity = scenario.capacity;
    plan.runIn = std::min<std::uint64_t>(4 * plan.capacity, options.messages);
    plan.batch = plan.capacity * (scenario.kind == Kind::overflow ? overflowFactor : 1);
    plan.ordered = subject.features.order != "none";
    plan.messages = messagesFor(scenario, options);
    plan.load = scenario.load;
    plan.arrivals = scenario.arrivals;
    plan.sendingNs = options.quick ? 10e6 : 50e6;
    return plan;
}

auto throughputOf(const QueueRuns& runs, std::size_t messageBytes) {
    switch (messageBytes) {
    case 8:
        return runs.throughput8;
    case 512:
        return runs.throughput512;
    case 4096:
        return runs.throughput4096;
    default:
        return runs.throughput64;
    }
}

Round runRound(const Scenario& scenario, const QueueRuns& runs, const RoundPlan& plan) {
    switch (scenario.kind) {
    case Kind::loadedLatency:
        return loadedRound(runs.throughput64, runs.loadedLatency64, plan);
    case Kind::idleLatency:
        return runs.idleLatency64(plan);
    case Kind::rawEnqueue:
        return runs.rawEnqueue64(plan);
    case Kind::overflow:
        return runs.overflow64(plan);
    default:
        return isSharing(scenario) ? runs.sharing64(plan)
                                   : throughputOf(runs, scenario.messageBytes)(plan);
    }
}

}  // namespace

Suite queueSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "queues";
    suite.scenarios = queueScenarios(options.quick, options.unpinned, placesOf(cpus));
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
    suite.instructionFloor = [](const Scenario& scenario) {
        return loopFloor(scenario.messageBytes);
    };
    suite.compare = [all = suite.subjects](const std::vector<Result>& results) {
        return compareWithPeers(results, all);
    };
    suite.columns = peerColumns();
    return suite;
}

}  // namespace sluice::bench
