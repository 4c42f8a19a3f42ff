#pragma once

/// \file
/// The facts about machine and build that a reader needs to judge a figure.

#include "harness/machine/storage.hpp"
#include "harness/machine/topology.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice::bench {

/// Flags of the compiler, and the number of source files that were compiled with them.
struct FlagSet {
    std::string flags;
    std::size_t units = 0;
};

/// The facts that only the build knows.
struct BuildRecord {
    std::vector<FlagSet> flagSets;
    std::string gitCommit;

    /// Whether files differed from that commit.
    bool gitDirty = false;
};

struct ClockCost {
    int cpu = 0;
    double ns = -1;
};

/// An unknown string is empty, and an unknown number is negative. Nothing is guessed.
struct Environment {
    std::string cpu;
    std::vector<int> cpus;

    /// The places of `cpus`, in the order in which threads take them.
    std::vector<CpuPlace> topology;
    int l3Kib = -1;
    double mhz = -1;
    double memoryMib = -1;
    double loadAverage = -1;
    std::string governor;
    std::string turbo;  ///< "on" or "off"
    std::string aslr;
    std::string transparentHugePages;
    std::string clockSource;
    bool virtualMachine = false;
    std::string kernel;
    std::string compiler;
    std::vector<FlagSet> flagSets;
    std::string gitCommit;
    bool gitDirty = false;
    std::string programHash;
    bool assertions = false;
    bool sanitized = false;
    std::string startedAt;

    /// The storage of the files that the log scenarios write.
    Storage logStorage;

    /// Why the processor's counters cannot be read. Empty if they can.
    std::string noPerfCounters;

    /// The time of one call of the clock: on the slowest CPU, and on each CPU. The clock's smallest
    /// step.
    double clockNs = -1;
    std::vector<ClockCost> clockCosts;
    double clockStepNs = -1;
};

/// Reads the facts from the system, and times the clock on each CPU. Takes some milliseconds.
/// `cpus` are in the order in which threads take them. The calling thread stays pinned.
Environment describeEnvironment(const std::vector<int>& cpus, const BuildRecord& build);

}  // namespace sluice::bench
