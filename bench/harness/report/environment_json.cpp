#include "harness/report/environment_json.hpp"

namespace sluice::bench {

namespace {

Json switchJson(const std::string& state) {
    return state.empty() ? Json(nullptr) : Json(state == "on");
}

Json topologyJson(const Environment& environment) {
    Json all = Json::array();
    for (const CpuPlace& place : environment.topology) {
        all.push_back({{"cpu", place.cpu},
                       {"core", known(place.core)},
                       {"package", known(place.package)},
                       {"numa_node", known(place.numaNode)},
                       {"l3", known(place.l3)},
                       {"smt_siblings", place.siblings}});
    }
    return all;
}

Json pairsJson(const Environment& environment) {
    Json all = Json::array();
    for (const CpuPair& pair : pairsByDistance(environment.topology)) {
        all.push_back({{"distance", pair.distance}, {"cpus", {pair.first, pair.second}}});
    }
    return all;
}

// The places of producer and consumer, unless the scenario says otherwise.
Json mainPairJson(const Environment& environment) {
    const std::vector<CpuPlace>& places = environment.topology;
    if (places.size() < 2) {
        return nullptr;
    }
    return {{"distance", known(distanceOf(places[0], places[1]))},
            {"cpus", {places[0].cpu, places[1].cpu}}};
}

Json missingJson(const Environment& environment) {
    Json all = Json::array();
    for (const MissingDistance& missing : missingDistances(environment.topology)) {
        all.push_back({{"distance", missing.distance}, {"because", missing.because}});
    }
    return all;
}

Json smtJson(const Environment& environment) {
    bool isKnown = !environment.topology.empty();
    bool hasSiblings = false;
    for (const CpuPlace& place : environment.topology) {
        isKnown = isKnown && place.core >= 0;
        hasSiblings = hasSiblings || !place.siblings.empty();
    }
    return isKnown ? Json(hasSiblings) : Json(nullptr);
}

Json buildJson(const Environment& environment) {
    Json sets = Json::array();
    for (const FlagSet& set : environment.flagSets) {
        sets.push_back({{"flags", set.flags}, {"units", set.units}});
    }
    const bool hasCommit = !environment.gitCommit.empty();
    return {{"compiler", known(environment.compiler)},
            {"flags", sets.empty() ? Json(nullptr) : sets[0]["flags"]},
            {"flag_sets", sets},
            {"flags_uniform", sets.empty() ? Json(nullptr) : Json(sets.size() == 1)},
            {"assertions", environment.assertions},
            {"sanitized", environment.sanitized},
            {"git_commit", known(environment.gitCommit)},
            {"git_dirty", hasCommit ? Json(environment.gitDirty) : Json(nullptr)},
            {"program_hash", known(environment.programHash)}};
}

Json clockJson(const Environment& environment) {
    Json costs = Json::array();
    for (const ClockCost& cost : environment.clockCosts) {
        costs.push_back({{"cpu", cost.cpu}, {"ns", cost.ns}});
    }
    return {{"clock_source", known(environment.clockSource)},
            {"clock_ns", known(environment.clockNs)},
            {"clock_ns_per_cpu", costs},
            {"clock_resolution_ns", known(environment.clockStepNs)}};
}

}  // namespace

Json environmentJson(const Environment& environment) {
    Json json = {{"cpu", known(environment.cpu)},
                 {"cpus", environment.cpus},
                 {"topology", topologyJson(environment)},
                 {"pairs_by_distance", pairsJson(environment)},
                 {"main_pair", mainPairJson(environment)},
                 {"distances_missing", missingJson(environment)},
                 {"smt", smtJson(environment)},
                 {"l3_kib", known(environment.l3Kib)},
                 {"mhz", known(environment.mhz)},
                 {"governor", known(environment.governor)},
                 {"turbo", switchJson(environment.turbo)},
                 {"memory_mib", known(environment.memoryMib)},
                 {"virtual_machine", environment.virtualMachine},
                 {"kernel", known(environment.kernel)},
                 {"load_average", known(environment.loadAverage)},
                 {"aslr", switchJson(environment.aslr)},
                 {"transparent_huge_pages", known(environment.transparentHugePages)},
                 {"perf_counters",
                  {{"available", environment.noPerfCounters.empty()},
                   {"reason", known(environment.noPerfCounters)}}},
                 {"log_storage",
                  {{"file_system", known(environment.logStorage.fileSystem)},
                   {"device", known(environment.logStorage.device)}}},
                 {"started_at", known(environment.startedAt)}};
    json.update(clockJson(environment));
    json.update(buildJson(environment));
    return json;
}

}  // namespace sluice::bench
