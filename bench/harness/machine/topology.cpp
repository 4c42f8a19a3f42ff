#include "harness/machine/topology.hpp"

#include "harness/machine/system_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace sluice::bench {

namespace {

// The nearest first.
const char* const distances[] = {"same core", "same L3", "same package", "other package"};

int numberIn(const std::string& path) {
    const std::string line = firstLine(path);
    return line.empty() ? -1 : std::atoi(line.c_str());
}

std::string folderOf(int cpu, const std::string& root) {
    return root + "/cpu" + std::to_string(cpu);
}

// The folder of the L3 has a different index on different machines.
std::string l3Folder(int cpu, const std::string& root) {
    for (int index = 0; index < 8; ++index) {
        std::string folder = folderOf(cpu, root) + "/cache/index" + std::to_string(index);
        if (firstLine(folder + "/level") == "3") {
            return folder;
        }
    }
    return {};
}

int numaNodeOf(int cpu, const std::string& root) {
    constexpr int most = 64;
    for (int node = 0; node < most; ++node) {
        const std::string path = folderOf(cpu, root) + "/node" + std::to_string(node) + "/cpulist";
        if (!firstLine(path).empty()) {
            return node;
        }
    }
    return -1;
}

// The pair that the main part of a suite measures.
CpuPair mainPair(const std::vector<CpuPlace>& places) {
    const std::vector<CpuPair> pairs = pairsByDistance(places);
    const auto apart = std::find_if(pairs.begin(), pairs.end(), [](const CpuPair& pair) {
        return pair.distance != distances[0];
    });
    return apart != pairs.end() ? *apart : CpuPair{{}, places[0].cpu, places[1].cpu};
}

bool sharesCore(const std::vector<CpuPlace>& taken, const CpuPlace& place) {
    return std::any_of(taken.begin(), taken.end(), [&](const CpuPlace& other) {
        return distanceOf(other, place) == distances[0];
    });
}

std::ptrdiff_t rankOf(const std::string& distance) {
    return std::find(std::begin(distances), std::end(distances), distance) - std::begin(distances);
}

std::string whyMissing(const std::string& distance, const std::vector<CpuPlace>& places) {
    const bool isKnown = std::none_of(places.begin(), places.end(),
                                      [](const CpuPlace& place) { return place.core < 0; });
    const bool hasL3 = std::none_of(places.begin(), places.end(),
                                    [](const CpuPlace& place) { return place.l3 < 0; });
    if (!isKnown) {
        return "the system does not tell where the CPUs are";
    }
    switch (rankOf(distance)) {
    case 0:
        return "no two of the CPUs are hardware threads of one core";
    case 1:
        return hasL3 ? "no two of the cores share an L3"
                     : "the system does not tell which CPUs share an L3";
    case 2:
        return "no package has cores with different L3";
    default:
        return "all CPUs are in one package";
    }
}

}  // namespace

std::vector<int> cpuList(const std::string& text) {
    std::vector<int> cpus;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t dash = part.find('-');
        const int first = std::atoi(part.c_str());
        const int last = dash == std::string::npos ? first : std::atoi(part.c_str() + dash + 1);
        for (int cpu = first; cpu <= last; ++cpu) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

CpuPlace placeOf(int cpu, const std::string& root) {
    const std::string topology = folderOf(cpu, root) + "/topology";
    CpuPlace place;
    place.cpu = cpu;
    place.core = numberIn(topology + "/core_id");
    place.package = numberIn(topology + "/physical_package_id");
    place.numaNode = numaNodeOf(cpu, root);
    const std::string l3 = l3Folder(cpu, root);
    if (!l3.empty()) {
        const std::vector<int> sharers = cpuList(firstLine(l3 + "/shared_cpu_list"));
        place.l3 = sharers.empty() ? -1 : sharers.front();
    }
    place.siblings = cpuList(firstLine(topology + "/thread_siblings_list"));
    place.siblings.erase(std::remove(place.siblings.begin(), place.siblings.end(), cpu),
                         place.siblings.end());
    return place;
}

std::vector<CpuPlace> placesOf(const std::vector<int>& cpus, const std::string& root) {
    std::vector<CpuPlace> places;
    for (const int cpu : cpus) {
        places.push_back(placeOf(cpu, root));
    }
    return places;
}

int l3Size(int cpu, const std::string& root) {
    const std::string folder = l3Folder(cpu, root);
    return folder.empty() ? -1 : numberIn(folder + "/size");
}

std::vector<CpuPair> pairsByDistance(const std::vector<CpuPlace>& places) {
    std::vector<CpuPair> pairs;
    for (const char* const distance : distances) {
        for (std::size_t i = 0; i + 1 < places.size(); ++i) {
            const auto found = std::find_if(
                places.begin() + std::ptrdiff_t(i) + 1, places.end(),
                [&](const CpuPlace& other) { return distanceOf(places[i], other) == distance; });
            if (found != places.end()) {
                pairs.push_back({distance, places[i].cpu, found->cpu});
                break;
            }
        }
    }
    return pairs;
}

std::vector<CpuPair> otherPairs(const std::vector<CpuPlace>& places) {
    const std::string usual = places.size() < 2 ? "" : distanceOf(places[0], places[1]);
    std::vector<CpuPair> pairs = pairsByDistance(places);
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(),
                               [&](const CpuPair& pair) { return pair.distance == usual; }),
                pairs.end());
    return pairs;
}

std::vector<MissingDistance> missingDistances(const std::vector<CpuPlace>& places) {
    const std::vector<CpuPair> pairs = pairsByDistance(places);
    std::vector<MissingDistance> missing;
    for (const char* const distance : distances) {
        if (std::none_of(pairs.begin(), pairs.end(),
                         [&](const CpuPair& pair) { return pair.distance == distance; })) {
            missing.push_back({distance, whyMissing(distance, places)});
        }
    }
    return missing;
}

std::vector<int> placementOrder(const std::vector<CpuPlace>& places) {
    if (places.size() < 2) {
        return places.empty() ? std::vector<int>{} : std::vector<int>{places[0].cpu};
    }
    const CpuPair pair = mainPair(places);
    std::vector<CpuPlace> taken;
    std::vector<CpuPlace> rest;
    for (const CpuPlace& place : places) {
        (place.cpu == pair.first || place.cpu == pair.second ? taken : rest).push_back(place);
    }
    std::stable_sort(rest.begin(), rest.end(), [&](const CpuPlace& a, const CpuPlace& b) {
        return rankOf(distanceOf(taken[1], a)) < rankOf(distanceOf(taken[1], b));
    });
    std::vector<CpuPlace> siblings;
    for (const CpuPlace& place : rest) {
        (sharesCore(taken, place) ? siblings : taken).push_back(place);
    }
    taken.insert(taken.end(), siblings.begin(), siblings.end());
    std::vector<int> order;
    for (const CpuPlace& place : taken) {
        order.push_back(place.cpu);
    }
    return order;
}

std::string distanceOf(const CpuPlace& a, const CpuPlace& b) {
    if (a.core < 0 || b.core < 0) {
        return {};
    }
    if (a.package != b.package) {
        return "other package";
    }
    if (a.core == b.core) {
        return "same core";
    }
    return a.l3 >= 0 && a.l3 == b.l3 ? "same L3" : "same package";
}

}  // namespace sluice::bench
