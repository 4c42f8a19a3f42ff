#pragma once

/// \file
/// Where the CPUs are: which of them share a core, a cache, a package.

#include <string>
#include <vector>

namespace sluice::bench {

/// An unknown number is negative.
struct CpuPlace {
    int cpu = -1;
    int core = -1;
    int package = -1;
    int numaNode = -1;
    int l3 = -1;

    /// The other hardware threads of the same core.
    std::vector<int> siblings;
};

/// `root` is the system's folder of CPUs; a test gives another one.
CpuPlace placeOf(int cpu, const std::string& root = "/sys/devices/system/cpu");

std::vector<CpuPlace> placesOf(const std::vector<int>& cpus,
                               const std::string& root = "/sys/devices/system/cpu");

/// The size in KiB. Negative if unknown.
int l3Size(int cpu, const std::string& root = "/sys/devices/system/cpu");

/// "same core", "same L3", "same package" or "other package". Empty if unknown.
std::string distanceOf(const CpuPlace& a, const CpuPlace& b);

/// A pair of CPUs. pairsByDistance() returns one for each distance, the nearest first.
struct CpuPair {
    std::string distance;
    int first = 0;
    int second = 0;
};
std::vector<CpuPair> pairsByDistance(const std::vector<CpuPlace>& places);

/// The pairs at other distances than the first two CPUs, on which the main part of a suite runs.
std::vector<CpuPair> otherPairs(const std::vector<CpuPlace>& places);

/// A distance that no pair has, and why.
struct MissingDistance {
    std::string distance;
    std::string because;
};
std::vector<MissingDistance> missingDistances(const std::vector<CpuPlace>& places);

/// The CPUs in the order in which threads take them. First comes the nearest pair that does not
/// share a core, because two hardware threads of a core share its execution units. Then come the
/// other CPUs, the nearest first. Second hardware threads of taken cores come last.
std::vector<int> placementOrder(const std::vector<CpuPlace>& places);

/// The numbers of a list such as "0-2,5".
std::vector<int> cpuList(const std::string& text);

}  // namespace sluice::bench
