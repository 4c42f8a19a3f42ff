#include "scenarios/bus.hpp"

#include "adapters/bus_subjects.hpp"
#include "harness/report/comparison.hpp"
#include "harness/run/instruction_floor.hpp"
#include "harness/run/machine.hpp"
#include "scenarios/bus_matrix.hpp"
#include "scenarios/loaded_round.hpp"

#include <algorithm>
#include <memory>

namespace sluice::bench {

namespace {

// For both libraries: the cost of the features of a mode or a way.
std::vector<FeatureCost> costs() {
    std::vector<FeatureCost> all = {
        {"time stamps, cached", "sluice/full:visitor", "sluice/no-time:visitor"},
        {"time stamps, exact ones", "sluice/exact-time:visitor", "sluice/full:visitor"},
        {"header", "sluice/no-stats:visitor", "sluice/no-header:visitor"},
        {"priorities and admission", "sluice/no-header:visitor", "sluice/bare:visitor"},
        {"depth 8192", "sluice/arm-linux:visitor", "sluice/full:visitor"},
        {"depth 131072", "sluice/deep:visitor", "sluice/full:visitor"},
        {"padding to cache lines", "sluice/full:visitor", "sluice/unpadded:visitor"},
        {"MCCC's own time stamps", "mccc/exact-time:visitor", "mccc/full:visitor"},
    };
    for (const std::string library : {"sluice/", "mccc/"}) {
        for (const Way way : {Way::table, Way::visitor}) {
            const std::string full = library + "full" + nameOf(way);
            const std::string noStats = library + "no-stats" + nameOf(way);
            all.push_back({"statistics", full, noStats});
            all.push_back({"all but the ring", noStats, library + "bare" + nameOf(way)});
        }
        for (const char* const mode : {"full", "no-stats", "bare"}) {
            all.push_back({"table of handlers", library + mode + nameOf(Way::table),
                           library + mode + nameOf(Way::visitor)});
        }
    }
    return all;
}

// Nanoseconds that the library promises on a machine like the one of its targets. The ratios to
// MCCC in the same mode are for other machines, if MCCC is given.
std::vector<Target> targets() {
    constexpr double asDocumented = 1.0 / 4;
    constexpr double paced = 1.0 / 3;
    std::vector<Target> all;
    const auto promise = [&](const char* name, const std::string& mode, double ns) {
        all.push_back({name, "sluice/" + mode, "", ns});
        all.push_back({name, "sluice/" + mode, "mccc/" + mode, asDocumented});
        all.push_back({name, "sluice/" + mode, "mccc/" + mode + pacedMark, paced});
    };
    promise("bus-64B-1p", "full:table", 25);
    promise("bus-64B-1p", "full:visitor", 20);
    promise("bus-64B-1p", "bare:visitor", 16);
    promise("bus-64B-4p", "full:visitor", 25);
    // At half of that throughput.
    for (const char* const mode : {"full:table", "full:visitor", "bare:visitor"}) {
        all.push_back({"loaded-latency-64B", std::string("sluice/") + mode, "", 5000});
    }
    return all;
}

std::vector<LineTarget> lineTargets() {
    return {{"idle-latency-64B", "sluice/full:table", 1.6},
            {"idle-latency-64B", "sluice/full:visitor", 1.6}};
}

// As many as keep a round about as long.
std::uint64_t messagesFor(const Scenario& scenario, const SuiteOptions& options) {
    constexpr std::size_t usualBytes = 64;
    if (scenario.kind == Kind::idleLatency) {
        return options.quick ? 1000 : 5000;
    }
    // A burst at least.
    return std::max<std::uint64_t>(scenario.section == burstSection ? scenario.capacity : 1,
                                   options.messages * usualBytes /
                                       std::max(usualBytes, scenario.messageBytes));
}

RoundPlan planFor(const Scenario& scenario, const BusSubject& subject, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    constexpr std::uint64_t batch = 1024;  // fits into all of them
    constexpr std::size_t overflowFactor = 8;
    constexpr double handleNs = 300;
    const BusShape* const shape = shapeFor(scenario, subject);
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    plan.capacity = shape != nullptr ? shape->room : subject.room;
    // The whole ring is warm before the clock starts.
    plan.runIn = std::max<std::uint64_t>(2 * plan.capacity, options.messages / 10);
    plan.batch = scenario.section == burstSection  ? scenario.capacity
                 : scenario.kind == Kind::overflow ? overflowFactor * plan.capacity
                                                   : batch;
    plan.messages = messagesFor(scenario, options);
    plan.load = scenario.load;
    plan.sendingNs = scenario.section == sustainedSection && !options.quick ? 5e9
                     : options.quick                                        ? 10e6
                                                                            : 50e6;
    if (scenario.section == overloadSection) {
        plan.urgency = urgencyFor(scenario);
        plan.messages = overloadMessages;
        plan.allMixes = scenario.name.find(allMixes) != std::string::npos;
    }
    if (scenario.kind == Kind::floodLatency) {
        plan.urgency = urgencyFor(scenario);
        plan.handleNs = handleNs;
        plan.messages = std::uint64_t(4 * plan.sendingNs * plan.load / plan.handleNs) / 10 * 10;
        plan.runIn = 0;
        plan.retried = false;
        plan.ordered = false;  // each priority for itself
    }
    return plan;
}

Round runRound(const Scenario& scenario, const BusSubject& subject, const RoundPlan& plan) {
    const BusRuns& runs = subject.runs;
    if (const BusShape* const shape = shapeFor(scenario, subject)) {
        return shape->throughput(plan);
    }
    switch (scenario.kind) {
    case Kind::loadedLatency:
        return loadedRound(runs.throughput, runs.loadedLatency, plan);
    case Kind::floodLatency:
        return runs.flood(plan);
    case Kind::idleLatency:
        return runs.idleLatency(plan);
    case Kind::rawEnqueue:
        return runs.rawEnqueue(plan);
    case Kind::overflow:
        return scenario.section == overloadSection ? runs.overload(plan) : runs.overflow(plan);
    default:
        return scenario.section == burstSection       ? runs.burst(plan)
               : scenario.section == sustainedSection ? sustainedRound(runs.throughput, plan)
               : scenario.name == mixedKinds          ? runs.mixedThroughput(plan)
                                                      : runs.throughput(plan);
    }
}

const char* const sameMode = "bus of the other library in the same mode";
const char* const sameModePaced = "same, paced";

// Each mode is compared with the same mode, and a subject with a feature with the one without it.
std::vector<Comparison> compareBuses(const std::vector<Result>& results,
                                     const BusSubjects& subjects) {
    std::vector<Comparison> all = compareFeatures(results, costs());
    const auto compare = [&](const BusSubject& subject, const std::string& baseline,
                             const char* role) {
        for (Comparison& each : compareWith(results, baseline, role)) {
            if (each.subject == subject.info.id) {
                all.push_back(std::move(each));
            }
        }
    };
    for (const BusSubject& subject : subjects) {
        if (!subject.counterpart.empty()) {
            compare(subject, subject.counterpart, sameMode);
            compare(subject, subject.counterpart + pacedMark, sameModePaced);
        }
    }
    return all;
}

}  // namespace

Suite busSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "bus";
    suite.scenarios = busScenarios(options.quick, options.unpinned, placesOf(cpus));
    const auto subjects = std::make_shared<const BusSubjects>(busSubjects());
    for (const BusSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const BusSubject& subject = (*subjects)[index];
        if (!takesPart(scenario, subject)) {
            return {};
        }
        const RoundPlan plan = planFor(scenario, subject, options, cpus);
        return {plan, [=] { return runRound(scenario, (*subjects)[index], plan); }};
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
    suite.compare = [=](const std::vector<Result>& results) {
        return compareBuses(results, *subjects);
    };
    suite.columns = {{sameMode, "/ MCCC"}, {sameModePaced, "/ paced"}};
    suite.targets = targets();
    suite.lineTargets = lineTargets();
    suite.costs = costs();
    return suite;
}

}  // namespace sluice::bench
