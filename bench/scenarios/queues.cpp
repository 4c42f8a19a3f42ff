#include "scenarios/queues.hpp"

#include "adapters/queue_subjects.hpp"
#include "harness/comparison.hpp"
#include "harness/instruction_floor.hpp"
#include "harness/machine.hpp"
#include "harness/topology.hpp"
#include "scenarios/loaded_round.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace sluice::bench {

namespace {

constexpr std::size_t slots = 4096;

Scenario across(const std::string& name, std::size_t bytes, std::size_t producers,
                Spread spread = Spread::apart) {
    return {"queues", name, Kind::throughput, bytes, producers, spread, "", "", slots, 0};
}

// One producer and one consumer, of which something differs from the others.
Scenario variant(const std::string& name, Kind kind, const std::string& section,
                 std::size_t bytes = 64, std::size_t capacity = slots, double load = 0) {
    return {"queues", name, kind, bytes, 1, Spread::apart, "", section, capacity, load};
}

// Sends of a part of what the subject itself can take; at more than all of it a queue can only fall
// behind, and how it does is the question.
std::vector<Scenario> loads(bool quick) {
    std::vector<Scenario> all;
    for (const int percent :
         quick ? std::vector<int>{10, 90, 120} : std::vector<int>{10, 30, 70, 80, 90, 100, 120}) {
        all.push_back(variant("loaded-latency-64B-" + std::to_string(percent) + "pct",
                              Kind::loadedLatency, loadSection, 64, slots, percent / 100.0));
    }
    return all;
}

// The main part runs on the first two CPUs; here are the other distances that the machine has.
std::vector<Scenario> distances(const std::vector<int>& cpus) {
    std::vector<CpuPlace> places;
    for (const int cpu : cpus) {
        places.push_back(placeOf(cpu));
    }
    const std::string usual = places.size() < 2 ? "" : distanceOf(places[0], places[1]);
    std::vector<Scenario> all;
    for (const CpuPair& pair : pairsByDistance(places)) {
        if (pair.distance != usual) {
            std::string name = pair.distance;
            std::replace(name.begin(), name.end(), ' ', '-');
            for (const char* const topology : {"spsc-64B-", "mpsc-64B-1p-"}) {
                all.push_back(variant(topology + name, Kind::throughput, distanceSection));
                all.back().cpus = {pair.first, pair.second};
            }
        }
    }
    return all;
}

std::vector<Scenario> scenarios(bool quick, const std::vector<int>& cpus) {
    std::vector<Scenario> all = {
        across("spsc-8B", 8, 1),
        across("spsc-64B", 64, 1),
        across("mpsc-64B-1p", 64, 1),
        variant("control-raw-64B", Kind::rawEnqueue, controlGroup),
        variant("control-overflow-64B", Kind::overflow, controlGroup),
        variant("control-consumer-64B", Kind::throughput, controlGroup),
        variant("idle-latency-64B", Kind::idleLatency, ""),
        variant("spsc-512B", Kind::throughput, sizeSection, 512),
        variant("spsc-4KiB", Kind::throughput, sizeSection, 4096),
        variant("mpsc-8B-1p", Kind::throughput, sizeSection, 8),
        variant("mpsc-512B-1p", Kind::throughput, sizeSection, 512),
        variant("mpsc-4KiB-1p", Kind::throughput, sizeSection, 4096),
        variant("spsc-64B-64-deep", Kind::throughput, depthSection, 64, 64),
        variant("spsc-64B-64Ki-deep", Kind::throughput, depthSection, 64, 65536),
        variant("mpsc-64B-1p-64-deep", Kind::throughput, depthSection, 64, 64),
        variant("mpsc-64B-1p-64Ki-deep", Kind::throughput, depthSection, 64, 65536),
        variant("loaded-latency-64B", Kind::loadedLatency, loadSection, 64, slots, 0.5),
    };
    // What is likely to be oversubscribed, and so takes longest, comes last.
    const std::vector<Scenario> crowds = {
        across("mpsc-64B-2p", 64, 2),
        across("mpsc-64B-4p", 64, 4),
        across("mpsc-64B-2p-everywhere", 64, 2, Spread::everywhere),
        across("mpsc-64B-4p-everywhere", 64, 4, Spread::everywhere),
    };
    for (const std::vector<Scenario>& more : {distances(cpus), loads(quick), crowds}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

// How the threads wait makes no difference where only one works; so each queue stands in the
// control group once, as its library means it.
bool isVariantOfWaiting(const Subject& subject) {
    return subject.ours != (subject.pacing == Pacing::harvest);
}

// Padding is a variable of the plain scenarios and of those alone.
bool isUnpadded(const Subject& subject) {
    return subject.id.find(unpaddedMark) != std::string::npos;
}

// Queues for one producer are compared with each other, and so are those for many; latency has them
// all.
bool takesPart(const Scenario& scenario, const Subject& subject) {
    const bool singleProducer = subject.features.topology == "spsc";
    if (isUnpadded(subject) && scenario.name != "spsc-8B" && scenario.name != "spsc-64B") {
        return false;
    }
    if (scenario.section == controlGroup) {
        return !isVariantOfWaiting(subject);
    }
    if (scenario.name.compare(0, 4, "spsc") == 0) {
        return singleProducer;
    }
    if (scenario.name.compare(0, 4, "mpsc") == 0) {
        return !singleProducer;
    }
    return true;
}

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
    plan.placement = placeThreads(scenario.cpus.empty() ? cpus : scenario.cpus, scenario.producers,
                                  scenario.spread);
    plan.capacity = scenario.capacity;
    plan.runIn = std::min<std::uint64_t>(4 * plan.capacity, options.messages);
    plan.batch = plan.capacity * (scenario.kind == Kind::overflow ? overflowFactor : 1);
    plan.ordered = subject.features.order != "none";
    plan.messages = messagesFor(scenario, options);
    plan.load = scenario.load;
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
        return throughputOf(runs, scenario.messageBytes)(plan);
    }
}

// Half of what the payload takes alone: where everything is inlined, a batch may take less than its
// messages one by one.
double floorFor(const Scenario& scenario) {
    const double floor = scenario.messageBytes == 8      ? instructionFloor<8>()
                         : scenario.messageBytes == 512  ? instructionFloor<512>()
                         : scenario.messageBytes == 4096 ? instructionFloor<4096>()
                                                         : instructionFloor<64>();
    return floor < 0 ? floor : floor / 2;
}

}  // namespace

Suite queueSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "queues";
    suite.scenarios = scenarios(options.quick, cpus);
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
    suite.instructionFloor = &floorFor;
    suite.compare = [all = suite.subjects](const std::vector<Result>& results) {
        return compareWithPeers(results, all);
    };
    suite.columns = peerColumns();
    return suite;
}

}  // namespace sluice::bench
