#pragma once

/// \file
/// The machine's own time to move a cache line between two CPUs. It is the floor under all figures.
/// It also shows if the machine changes during a measurement (virtual CPUs move, neighbours come
/// and go).

#include "harness/run/round.hpp"

namespace sluice::bench {

/// `ns`: one cache line, one way: half of a ping-pong between the two CPUs, the best of several
/// short batches. Takes a few milliseconds.
Round lineOneWayRound(int cpuA, int cpuB);

/// `ns`: one 64-byte line out of many that are written, handed over 256 at a time and read on the
/// other CPU, as the fastest imaginable queue would. Takes a few milliseconds. The receiver checks
/// each word.
Round lineStreamedRound(int fromCpu, int toCpu);

/// `samples`: how late a thread that does nothing but look at the clock notices that a moment has
/// come, for 50000 moments one microsecond apart, on the later one of both CPUs; `ns`: their
/// median. No queue can have better percentiles than this: here only the system takes the CPUs
/// away.
Round wakefulnessRound(int cpuA, int cpuB);

}  // namespace sluice::bench
