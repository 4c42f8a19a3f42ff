#include "scenarios/queue_matrix.hpp"

#include "harness/report/text.hpp"

namespace sluice::bench {

namespace {

constexpr std::size_t slots = 4096;

Scenario across(const std::string& name, std::size_t bytes, std::size_t producers,
                Spread spread = Spread::apart) {
    return {"queues", name, Kind::throughput, bytes, producers, spread, "", "", slots, 0};
}

// As many consumers as producers. One of each kind shares a CPU.
Scenario shared(const std::string& name, std::size_t pairs) {
    Scenario scenario = across(name, 64, pairs, Spread::everywhere);
    scenario.what = "throughput, 64-byte messages from " + std::to_string(pairs) +
                    " producers to as many consumers, which share the messages";
    return scenario;
}

// One producer and one consumer, of which something differs from the others.
Scenario variant(const std::string& name, Kind kind, const std::string& section,
                 std::size_t bytes = 64, std::size_t capacity = slots, double load = 0) {
    return {"queues", name, kind, bytes, 1, Spread::apart, "", section, capacity, load};
}

// Sends at a part of the subject's own throughput. Beyond all of it a queue falls behind, and the
// row shows in which way.
std::vector<Scenario> loads(bool quick) {
    std::vector<Scenario> all;
    for (const int percent :
         quick ? std::vector<int>{10, 90, 120} : std::vector<int>{10, 30, 70, 80, 90, 100, 120}) {
        all.push_back(variant("loaded-latency-64B-" + std::to_string(percent) + "pct",
                              Kind::loadedLatency, loadSection, 64, slots, percent / 100.0));
    }
    for (const int percent : quick ? std::vector<int>{50} : std::vector<int>{30, 50, 70, 90}) {
        all.push_back(variant("loaded-latency-64B-poisson-" + std::to_string(percent) + "pct",
                              Kind::loadedLatency, poissonSection, 64, slots, percent / 100.0));
        all.back().arrivals = ArrivalProcess::poisson;
    }
    return all;
}

// The main part runs on the first two CPUs; here are the other distances that the machine has.
// Threads that may run anywhere have none.
std::vector<Scenario> distances(bool unpinned, const std::vector<CpuPlace>& places) {
    if (unpinned) {
        return {};
    }
    std::vector<Scenario> all;
    for (const CpuPair& pair : otherPairs(places)) {
        for (const char* const topology : {"spsc-64B-", "mpsc-64B-1p-"}) {
            all.push_back(
                variant(topology + dashed(pair.distance), Kind::throughput, distanceSection));
            all.back().cpus = {pair.first, pair.second};
        }
    }
    return all;
}

// The way of waiting makes no difference if only one thread works. So each queue is in the control
// group once, as its library means it.
bool isVariantOfWaiting(const Subject& subject) {
    return subject.ours != (subject.pacing == Pacing::harvest);
}

// Padding is a variable of the plain scenarios and of those alone.
bool isUnpadded(const Subject& subject) {
    return subject.id.find(unpaddedMark) != std::string::npos;
}

}  // namespace

std::vector<Scenario> queueScenarios(bool quick, bool unpinned,
                                     const std::vector<CpuPlace>& places) {
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
    // Scenarios with more threads than CPUs take longest, so they come last.
    const std::vector<Scenario> crowds = {
        across("mpsc-64B-2p", 64, 2),
        across("mpsc-64B-4p", 64, 4),
        across("mpsc-64B-2p-everywhere", 64, 2, Spread::everywhere),
        across("mpsc-64B-4p-everywhere", 64, 4, Spread::everywhere),
        shared("mpmc-64B-2x2", 2),
        shared("mpmc-64B-4x4", 4),
    };
    for (const std::vector<Scenario>& more : {distances(unpinned, places), loads(quick), crowds}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

bool isSharing(const Scenario& scenario) {
    return scenario.name.compare(0, 4, "mpmc") == 0;
}

bool takesPart(const Scenario& scenario, const Subject& subject) {
    if (isSharing(scenario)) {
        return subject.features.topology == "mpmc";
    }
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

}  // namespace sluice::bench
