#pragma once

/// \file
/// What one round is asked to do and what it reports.

#include "harness/affinity.hpp"
#include "harness/counts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

/// When the memory of a process is looked at: when most blocks are in use, when all were freed, or
/// when the allocator was asked afterwards to give memory back.
enum class Moment { peak, freed, trimmed };

/// One round of one subject. The untimed run-in sends `runIn` messages through the fresh queue with
/// the threads of the round, so that memory and code are warm when the clock starts; its messages
/// are counted and verified like all others.
struct RoundPlan {
    Placement placement;
    std::size_t capacity = 4096;
    std::uint64_t runIn = 0;
    std::uint64_t messages = 0;

    /// Whether the subject promises to keep each producer's order. One that does and fails is
    /// INVALID.
    bool ordered = true;

    /// Calls: which of the two is timed, and the order in which the blocks of a batch, `capacity`
    /// of them, are freed.
    bool timesFree = false;
    bool shuffled = false;

    /// Resident memory: when it is looked at.
    Moment moment = Moment::peak;

    /// Loaded latency: the distance of two sends, and how many messages lie between two probes.
    double intervalNs = 0;
    std::uint64_t probeStride = 61;

    /// Idle latency: how long the queue is left alone between two messages.
    double restNs = 2000;

    /// A latency above this is counted as timed out. It stays in the sample.
    double timeoutNs = 10e6;

    /// A round in which nothing was delivered for so long is given up and INVALID.
    double stallNs = 5e9;

    std::size_t producers() const noexcept { return placement.producerCpus.size(); }
};

struct Round {
    Counts counts;

    /// Throughput: nanoseconds per delivered message; calls: per call, or pair of calls. Latency:
    /// the round's median. Resident memory: MiB.
    double ns = 0;

    /// Latency only: one value for each probe or call.
    std::vector<double> samples;
    std::uint64_t timedOut = 0;

    /// Loaded latency only: the distance of two sends, and true when the sends fell behind their
    /// schedule for good.
    double intervalNs = 0;
    bool behindSchedule = false;

    /// Why the round is INVALID; empty when it is not.
    std::string error;
};

}  // namespace sluice::bench
