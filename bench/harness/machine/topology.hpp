#pragma once

/// \file
/// Where the CPUs are: which of them share a core, a cache, a package.

#include <string>
#include <vector>

namespace sluice::bench {

/// A number that the system does not tell is negative.
struct CpuPlace {
    int cpu = -1;
    int core = -1;
    int package = -1;
    int numaNode = -1;
    int l3 = -1;

    /// The hardware threads of the same core, itself left out.
    std::vector<int> siblings;
};

/// `root` is the system's folder of CPUs; a test gives another one.
CpuPlace placeOf(int cpu, const std::string& root = "/sys/devices/system/cpu");

std::vector<CpuPlace> placesOf(const std::vector<int>& cpus,
                               const std::string& root = "/sys/devices/system/cpu");

/// In KiB; negative when unknown.
int l3Size(int cpu, const std::string& root = "/sys/devices/system/cpu");

/// "same core", "same L3", "same package" or "other package"; empty when the system does not tell.
std::string distanceOf(const CpuPlace& a, const CpuPlace& b);

/// A pair of CPUs for each distance that there is, the nearest first.
struct CpuPair {
    std::string distance;
    int first = 0;
    int second = 0;
};
std::vector<CpuPair> pairsByDistance(const std::vector<CpuPlace>& places);

/// Those at another distance than the first two CPUs, which the main part of a suite runs on.
std::vector<CpuPair> otherPairs(const std::vector<CpuPlace>& places);

/// A distance that no pair has, and why.
struct MissingDistance {
    std::string distance;
    std::string because;
};
std::vector<MissingDistance> missingDistances(const std::vector<CpuPlace>& places);

/// The CPUs in the order in which threads take them. First the nearest pair that does not share a
/// core, where there is one: two hardware threads of a core also share its execution units. Then
/// the rest, the nearest first, and the second hardware threads of cores that are taken at the end.
std::vector<int> placementOrder(const std::vector<CpuPlace>& places);

/// "0-2,5" as numbers.
std::vector<int> cpuList(const std::string& text);

}  // namespace sluice::bench
