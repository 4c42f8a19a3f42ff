#include "harness/topology.hpp"

#include "harness/system_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace sluice::bench {

namespace {

int numberIn(const std::string& path) {
    const std::string line = firstLine(path);
    return line.empty() ? -1 : std::atoi(line.c_str());
}

std::string folderOf(int cpu, const std::string& root) {
    return root + "/cpu" + std::to_string(cpu);
}

// The level of caches varies in place; the one that says level 3 is it.
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

int l3Size(int cpu, const std::string& root) {
    const std::string folder = l3Folder(cpu, root);
    return folder.empty() ? -1 : numberIn(folder + "/size");
}

std::vector<CpuPair> pairsByDistance(const std::vector<CpuPlace>& places) {
    std::vector<CpuPair> pairs;
    for (const char* const distance : {"same core", "same L3", "same package", "other package"}) {
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
