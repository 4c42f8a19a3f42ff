#pragma once

/// \file
/// The machine's own time to move a cache line between two CPUs. It is the floor under all figures.
/// It also shows if the machine changes during a measurement (virtual CPUs move, neighbours come
/// and go).

#include "harness/machine/cpu_share.hpp"
#include "harness/run/round.hpp"
#include "harness/run/steady_rounds.hpp"

#include <optional>
#include <vector>

namespace sluice::bench {

/// `ns`: the time of one cache line, one way. It is half of a ping-pong between the two CPUs, the
/// best of several short batches. Takes a few milliseconds.
Round lineOneWayRound(int cpuA, int cpuB);

/// `ns`: the time of one of many 64-byte lines. One CPU writes them and hands over 256 at a time,
/// the other CPU reads them, as the fastest possible queue would. Takes a few milliseconds. The
/// receiver checks each word.
Round lineStreamedRound(int fromCpu, int toCpu);

/// The conditions of one round after the other.
class MachineWatch {
public:
    /// The conditions have no time of a cache line if `isLineNeeded` is false.
    MachineWatch(int cpuA, int cpuB, bool isLineNeeded)
        : cpuA_(cpuA), cpuB_(cpuB), isLineNeeded_(isLineNeeded) {}

    /// A lineOneWayRound(), which counts as one of the conditions.
    Round line();

    /// The conditions since the last call.
    RoundConditions sinceLastCall();

private:
    const int cpuA_;
    const int cpuB_;
    const bool isLineNeeded_;
    std::vector<double> lineNs_;  ///< since the last call
    std::optional<CpuShare> share_;
};

/// `samples`: how late a thread that only reads the clock notices a moment. There are 50000
/// moments, one microsecond apart, and the later of both CPUs counts. `ns`: their median. No queue
/// can have better percentiles, because here only the system takes the CPUs away.
Round wakefulnessRound(int cpuA, int cpuB);

}  // namespace sluice::bench
