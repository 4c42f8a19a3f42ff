#include "scenarios/bus_matrix.hpp"

#include "harness/report/text.hpp"

#include <algorithm>

namespace sluice::bench {

namespace {

Scenario scenario(const std::string& name, Kind kind, std::size_t producers = 1,
                  const std::string& section = {}) {
    return {"bus", name, kind, 64, producers, Spread::apart, "", section};
}

Scenario shaped(const std::string& name, const std::string& section, std::size_t bytes,
                std::size_t depth) {
    Scenario shape = scenario(name, Kind::throughput, 1, section);
    shape.messageBytes = bytes;
    shape.capacity = depth;
    shape.what = "end-to-end throughput, " + std::to_string(bytes) +
                 "-byte messages, each bus with depth " + std::to_string(depth);
    return shape;
}

std::vector<Scenario> shapes() {
    return {
        shaped("bus-8B-1p", sizeSection, 8, 4096),
        shaped("bus-512B-1p", sizeSection, 512, 4096),
        shaped("bus-4KiB-1p", sizeSection, 4096, 4096),
        shaped("bus-64B-1p-64-deep", depthSection, 64, 64),
        shaped("bus-64B-1p-128Ki-deep", depthSection, 64, 131072),
    };
}

// Sends at a part of the subject's own throughput. At half of it all subjects take part.
std::vector<Scenario> loads(bool quick) {
    std::vector<Scenario> all;
    for (const int percent :
         quick ? std::vector<int>{10, 50, 120} : std::vector<int>{10, 30, 50, 70, 90, 100, 120}) {
        all.push_back(scenario(percent == 50
                                   ? "loaded-latency-64B"
                                   : "loaded-latency-64B-" + std::to_string(percent) + "pct",
                               Kind::loadedLatency, 1, loadSection));
        all.back().load = percent / 100.0;
    }
    return all;
}

std::vector<Scenario> floods() {
    std::vector<Scenario> all;
    for (const char* const urgency : {"high", "medium", "low"}) {
        all.push_back(scenario(std::string(urgency) + "-under-flood-64B", Kind::floodLatency, 1,
                               floodSection));
        all.back().load = floodLoad;
        all.back().what = std::string("a message of ") + urgency +
                          " priority, from the moment at which it was to be sent to its handler";
    }
    return all;
}

std::vector<Scenario> overloads() {
    std::vector<Scenario> all;
    for (const bool isOfAllMixes : {false, true}) {
        for (const char* const urgency : {"high", "medium", "low"}) {
            all.push_back(
                scenario(std::string(urgency) + "-in-overload" + (isOfAllMixes ? allMixes : "-64B"),
                         Kind::overflow, 1, overloadSection));
            all.back().what = std::string("messages of ") + urgency + " priority among " +
                              std::to_string(overloadMessages) + ", " +
                              (isOfAllMixes ? "summed over all 66 mixes in steps of 10 %"
                                            : "2 : 3 : 5 of high, medium and low") +
                              ", into 131072 slots while nobody consumes";
        }
    }
    return all;
}

// Threads that may run anywhere have no distance.
std::vector<Scenario> distances(bool unpinned, const std::vector<CpuPlace>& places) {
    std::vector<Scenario> all;
    for (const CpuPair& pair : unpinned ? std::vector<CpuPair>() : otherPairs(places)) {
        all.push_back(
            scenario("bus-64B-1p-" + dashed(pair.distance), Kind::throughput, 1, distanceSection));
        all.back().cpus = {pair.first, pair.second};
    }
    return all;
}

Scenario burst(const std::string& name, std::size_t messages) {
    Scenario each = scenario(name, Kind::throughput, 1, burstSection);
    each.capacity = messages;
    each.what = "bursts of " + std::to_string(messages) +
                " 64-byte messages into an empty bus, from the first push to the last delivery";
    return each;
}

bool isMeantSo(const Subject& subject) {
    return subject.ours == (subject.pacing == Pacing::harvest);
}

bool hasAllFeatures(const Subject& subject) {
    return subject.id.find("/full:visitor") != std::string::npos;
}

bool isAtPeersDepth(const Subject& subject) {
    return subject.id == "sluice/deep:visitor";
}

bool isDeep(const Subject& subject) {
    return isAtPeersDepth(subject) ||
           (!subject.ours && isMeantSo(subject) && hasAllFeatures(subject));
}

}  // namespace

std::vector<Scenario> busScenarios(bool quick, bool unpinned, const std::vector<CpuPlace>& places) {
    std::vector<Scenario> all = {
        scenario("bus-64B-1p", Kind::throughput),
        scenario(mixedKinds, Kind::throughput),
        scenario("control-raw-64B", Kind::rawEnqueue, 1, controlGroup),
        scenario("control-overflow-64B", Kind::overflow, 1, controlGroup),
        scenario("control-consumer-64B", Kind::throughput, 1, controlGroup),
        scenario("idle-latency-64B", Kind::idleLatency),
        burst("burst-1000-64B", 1000),
        burst("burst-10000-64B", 10000),
        burst("burst-100000-64B", 100000),
        scenario(quick ? "sustained-64B" : "sustained-5s-64B", Kind::throughput, 1,
                 sustainedSection),
    };
    // Scenarios with more threads than CPUs take longest, so they come last.
    const std::vector<Scenario> crowds = {
        scenario("bus-64B-2p", Kind::throughput, 2),
        scenario("bus-64B-4p", Kind::throughput, 4),
    };
    for (const std::vector<Scenario>& more :
         {shapes(), loads(quick), floods(), overloads(), distances(unpinned, places), crowds}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    for (Scenario& each : all) {
        if (each.kind == Kind::throughput && each.what.empty()) {
            each.what = std::string("end-to-end throughput, 64-byte messages of ") +
                        (each.name == mixedKinds ? "three kinds, mixed" : "one kind") +
                        ", each bus at its own depth";
        }
    }
    return all;
}

bool takesPart(const Scenario& scenario, const BusSubject& subject) {
    const Subject& info = subject.info;
    // With one thread, pacing makes no difference. So each bus is in the control group once, in the
    // form that its library documents.
    if (scenario.section == controlGroup) {
        return isMeantSo(info);
    }
    if (scenario.section == sizeSection || scenario.section == depthSection) {
        return shapeFor(scenario, subject) != nullptr;
    }
    if (scenario.section == floodSection || scenario.section == burstSection) {
        return (isMeantSo(info) && hasAllFeatures(info)) || isAtPeersDepth(info);
    }
    if (scenario.section == overloadSection) {
        return isDeep(info);
    }
    if (scenario.section == sustainedSection) {
        return isMeantSo(info) && hasAllFeatures(info);
    }
    if (scenario.section == loadSection && scenario.load != 0.5) {
        return hasAllFeatures(info);
    }
    return true;
}

const BusShape* shapeFor(const Scenario& scenario, const BusSubject& subject) {
    if (scenario.section != sizeSection && scenario.section != depthSection) {
        return nullptr;
    }
    const auto found =
        std::find_if(subject.shapes.begin(), subject.shapes.end(), [&](const BusShape& shape) {
            return shape.bytes == scenario.messageBytes && shape.depth == scenario.capacity;
        });
    return found == subject.shapes.end() ? nullptr : &*found;
}

Urgency urgencyFor(const Scenario& scenario) {
    return scenario.name.rfind("high", 0) == 0     ? Urgency::high
           : scenario.name.rfind("medium", 0) == 0 ? Urgency::medium
                                                   : Urgency::low;
}

}  // namespace sluice::bench
