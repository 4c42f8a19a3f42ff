#pragma once

/// \file
/// What the machine itself needs to move a cache line between two CPUs: the floor under every
/// figure, and a witness when the machine changes while it is measured (virtual CPUs move,
/// neighbours come and go).

#include "harness/run/round.hpp"

namespace sluice::bench {

/// `ns`: one cache line, one way: half of a ping-pong between the two CPUs, the best of several
/// short batches. Takes a few milliseconds.
Round lineOneWayRound(int cpuA, int cpuB);

/// `ns`: one 64-byte line out of many that are written, handed over 256 at a time and read on the
/// other CPU, as the fastest imaginable queue would. Takes a few milliseconds. The receiver checks
/// what it reads.
Round lineStreamedRound(int fromCpu, int toCpu);

/// `samples`: how late a thread that does nothing but look at the clock notices that a moment has
/// come, for 50000 moments one microsecond apart, on the later one of both CPUs; `ns`: their
/// median. No queue can have better percentiles than this: what stands here is the system taking
/// the CPUs away.
Round wakefulnessRound(int cpuA, int cpuB);

}  // namespace sluice::bench
