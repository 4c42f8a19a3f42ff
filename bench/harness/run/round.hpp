#pragma once

/// \file
/// The plan of one round, and its results.

#include "harness/machine/affinity.hpp"
#include "harness/machine/clock.hpp"
#include "harness/run/counts.hpp"
#include "harness/run/send_schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::bench {

/// The moment at which the memory of a process is read: when most blocks are in use, after all were
/// freed, or after the allocator was then asked to give memory back.
enum class Moment { peak, freed, trimmed };

/// How much a message of a flood matters.
enum class Urgency { low, medium, high };

/// One round of one subject. The untimed run-in sends `runIn` messages through the fresh queue with
/// the threads of the round, so that memory and code are warm when the clock starts; its messages
/// are counted and verified like all others.
struct RoundPlan {
    Placement placement;
    std::size_t capacity = 4096;
    std::uint64_t runIn = 0;
    std::uint64_t messages = 0;

    /// Raw enqueue and overflow: the attempts that are timed before the queue is emptied. Bursts:
    /// the messages of each burst.
    std::uint64_t batch = 0;

    /// Whether the subject promises to keep each producer's order. If it breaks this promise, the
    /// round is INVALID.
    bool ordered = true;

    /// Whether a refused message is pushed again until it is taken.
    bool retried = true;

    /// Flood: which messages are watched, and how long the consumer works on each message.
    Urgency urgency = Urgency::high;
    double handleNs = 0;

    /// Overload: all mixes of urgencies instead of the usual one.
    bool allMixes = false;

    /// Calls: whether freeing is timed instead of allocating, and whether blocks are freed in
    /// shuffled order.
    bool timesFree = false;
    bool shuffled = false;

    /// Resident memory: when it is read.
    Moment moment = Moment::peak;

    /// Loaded latency: the load as a part of the subject's own capacity, the planned time of all
    /// sends, the mean time between two sends. Every `probeStride`-th message is a probe.
    double load = 0;
    double sendingNs = 50e6;
    double intervalNs = 0;
    std::uint64_t probeStride = 61;

    /// Loaded latency: the gaps between sends. The same seed gives the same gaps.
    ArrivalProcess arrivals = ArrivalProcess::constant;
    std::uint64_t arrivalSeed = 1;

    /// Idle latency: the rest of the queue between two messages.
    double restNs = 2000;

    /// A latency above this is counted as timed out. It stays in the sample.
    double timeoutNs = 10e6;

    /// A round in which no message is delivered for this time is abandoned and INVALID.
    double stallNs = 5e9;

    std::size_t producers() const noexcept { return placement.producerCpus.size(); }
};

struct Round {
    Counts counts;

    /// Throughput: nanoseconds per delivered message; calls: per call, or pair of calls. Latency:
    /// the round's median. Resident memory: MiB.
    double ns = 0;

    /// The timed interval, 0 if single calls are timed. The timing thread's reads of the clock,
    /// with the two reads at the ends of the interval.
    double timedNs = 0;
    std::uint64_t clockReads = 0;

    /// The number of things that `ns` was divided by.
    std::uint64_t timedMessages = 0;

    /// Latency only: one value for each probe or call.
    std::vector<double> samples;
    std::uint64_t timedOut = 0;

    /// Flood: messages of the watched urgency that were refused.
    std::uint64_t lost = 0;

    /// Loaded latency only: the time between two sends, and whether the sends fell behind their
    /// schedule for good. `lateSends`: the sends that were due before the previous message was
    /// sent.
    double intervalNs = 0;
    bool behindSchedule = false;
    std::uint64_t lateSends = 0;

    /// The number of calls of the allocator in the timed part; no value if they were not counted.
    std::optional<std::uint64_t> allocations;

    /// Why the round is INVALID. Empty if it is valid.
    std::string error;

    /// Fills in the time of one of `things` things between `start` and `end`. It is an error if the
    /// clock stood still.
    void time(Nanoseconds start, Nanoseconds end, std::uint64_t things, std::uint64_t reads = 2) {
        timedNs = double(end - start);
        timedMessages = things;
        clockReads = reads;
        ns = timedNs / double(things);
        if (timedNs <= 0 && error.empty()) {
            error = "the clock stood still during the round";
        }
    }
};

}  // namespace sluice::bench
