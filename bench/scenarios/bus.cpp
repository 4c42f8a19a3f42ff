#include "scenarios/bus.hpp"

#include "adapters/bus_subjects.hpp"
#include "harness/comparison.hpp"
#include "harness/instruction_floor.hpp"
#include "harness/machine.hpp"
#include "scenarios/loaded_round.hpp"

#include <algorithm>
#include <memory>

namespace sluice::bench {

namespace {

const std::string mixedKinds = "bus-3-kinds-64B-1p";

Scenario scenario(const std::string& name, Kind kind, std::size_t producers = 1,
                  const std::string& section = {}) {
    return {"bus", name, kind, 64, producers, Spread::apart, "", section};
}

std::vector<Scenario> scenarios() {
    std::vector<Scenario> all = {
        scenario("bus-64B-1p", Kind::throughput),
        scenario(mixedKinds, Kind::throughput),
        scenario("control-raw-64B", Kind::rawEnqueue, 1, controlGroup),
        scenario("control-overflow-64B", Kind::overflow, 1, controlGroup),
        scenario("control-consumer-64B", Kind::throughput, 1, controlGroup),
        scenario("idle-latency-64B", Kind::idleLatency),
        scenario("loaded-latency-64B", Kind::loadedLatency, 1, loadSection),
        // What is likely to be oversubscribed, and so takes longest, comes last.
        scenario("bus-64B-2p", Kind::throughput, 2),
        scenario("bus-64B-4p", Kind::throughput, 4),
    };
    for (Scenario& each : all) {
        if (each.kind == Kind::loadedLatency) {
            each.load = 0.5;
        }
        if (each.kind == Kind::throughput) {
            each.what = std::string("end-to-end throughput, 64-byte messages of ") +
                        (each.name == mixedKinds ? "three kinds, mixed" : "one kind") +
                        ", each bus at its own depth";
        }
    }
    return all;
}

// Both libraries: what the mode or the way with more does in addition.
std::vector<FeatureCost> costs() {
    std::vector<FeatureCost> all = {
        {"time stamps, cached", "sluice/full:visitor", "sluice/no-time:visitor"},
        {"time stamps, exact ones", "sluice/exact-time:visitor", "sluice/full:visitor"},
        {"header", "sluice/no-stats:visitor", "sluice/no-header:visitor"},
        {"priorities and admission", "sluice/no-header:visitor", "sluice/bare:visitor"},
        {"depth 131072", "sluice/deep:visitor", "sluice/full:visitor"},
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

// Nanoseconds that the library promises on a machine like the one its targets come from; and the
// same as parts of what MCCC takes in the same mode, for other machines, where MCCC is given.
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

// How the threads wait makes no difference where only one works; so each bus stands in the control
// group once, as its library means it.
bool takesPart(const Scenario& scenario, const Subject& subject) {
    return scenario.section != controlGroup || subject.ours == (subject.pacing == Pacing::harvest);
}

RoundPlan planFor(const Scenario& scenario, const BusSubject& subject, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    constexpr std::uint64_t batch = 2048;  // fits into all of them
    constexpr std::size_t overflowFactor = 8;
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    plan.capacity = subject.room;
    // The whole ring is warm before the clock starts.
    plan.runIn = std::max<std::uint64_t>(2 * plan.capacity, options.messages / 10);
    plan.batch = scenario.kind == Kind::overflow ? overflowFactor * plan.capacity : batch;
    plan.messages = scenario.kind != Kind::idleLatency ? options.messages
                    : options.quick                    ? 1000
                                                       : 5000;
    plan.load = scenario.load;
    plan.sendingNs = options.quick ? 10e6 : 50e6;
    return plan;
}

Round runRound(const Scenario& scenario, const BusRuns& runs, const RoundPlan& plan) {
    switch (scenario.kind) {
    case Kind::loadedLatency:
        return loadedRound(runs.throughput, runs.loadedLatency, plan);
    case Kind::idleLatency:
        return runs.idleLatency(plan);
    case Kind::rawEnqueue:
        return runs.rawEnqueue(plan);
    case Kind::overflow:
        return runs.overflow(plan);
    default:
        return (scenario.name == mixedKinds ? runs.mixedThroughput : runs.throughput)(plan);
    }
}

// Half of what the payload takes alone: where everything is inlined, a batch may take less than its
// messages one by one.
double floorFor(const Scenario&) {
    const double floor = instructionFloor<64>();
    return floor < 0 ? floor : floor / 2;
}

const char* const sameMode = "bus of the other library in the same mode";
const char* const sameModePaced = "same, paced";

// Every mode is compared with the same mode, and what has a feature with what has it not.
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
    suite.scenarios = scenarios();
    const auto subjects = std::make_shared<const BusSubjects>(busSubjects());
    for (const BusSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const BusSubject& subject = (*subjects)[index];
        if (!takesPart(scenario, subject.info)) {
            return {};
        }
        const RoundPlan plan = planFor(scenario, subject, options, cpus);
        return {plan, [=] { return runRound(scenario, (*subjects)[index].runs, plan); }};
    };
    suite.machineAlone = [=](const Scenario& scenario) -> std::function<Round()> {
        if (!hasSamples(scenario.kind)) {
            return nullptr;
        }
        return [=] { return wakefulnessRound(cpus[0], cpus[1]); };
    };
    suite.instructionFloor = &floorFor;
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
