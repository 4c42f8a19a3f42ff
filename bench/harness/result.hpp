#pragma once

/// \file
/// What a run of a suite found: the content of the report, before anybody formats it.

#include "harness/environment.hpp"
#include "harness/interleave.hpp"
#include "harness/round.hpp"
#include "harness/statistics.hpp"
#include "harness/subject.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice::bench {

/// What is measured. Results of different kinds are never ranked against each other.
enum class Kind {
    throughput,
    loadedLatency,
    idleLatency,
    callCost,        ///< time of one call among many, on one thread
    callLatency,     ///< time of single calls, on one thread
    residentMemory,  ///< MiB that a process of its own takes
    eventCost,       ///< time of one event, listener or change among many, on one thread or several
};

/// Whether the figure of a result is one value for each round, or a sample of single times.
bool hasSamples(Kind kind) noexcept;

/// Whether its rounds have a producer and a consumer; else it is one thread's work.
bool hasConsumer(Kind kind) noexcept;

struct Scenario {
    std::string suite;
    std::string name;
    Kind kind = Kind::throughput;
    std::size_t messageBytes = 0;  ///< or bytes of a block
    std::size_t producers = 1;
    Spread spread = Spread::apart;

    /// What one figure is, where kind and bytes do not tell.
    std::string what = {};
};

struct Result {
    Scenario scenario;
    std::string subject;
    RoundPlan plan;
    Series series;

    /// Over the rounds, or over all samples: see hasSamples().
    Stats stats;
    std::vector<std::string> flags;
};

/// How a subject stands to another one: the median over the rounds of (subject / baseline), each
/// ratio taken from two runs of the same round. Below 1 the subject is faster.
struct Comparison {
    std::string scenario;
    std::string subject;
    std::string baseline;

    /// Why this baseline, for instance "best peer as documented".
    std::string role;
    double ratio = 0;
    double ratioMin = 0;
    double ratioMax = 0;
};

/// A ratio that a subject is meant to reach; a comparison with the same names tells whether it did.
/// Without a baseline it is a figure of the subject itself, its median.
struct Target {
    std::string scenario;
    std::string subject;
    std::string baseline;
    double atMost = 0;
};

struct Verdict {
    Target target;
    double reached = 0;
    bool isMet = false;
};

/// What the machine was like while a scenario ran.
struct MachineRecord {
    std::string scenario;

    /// How fast it moved cache lines, measured between the rounds.
    Stats lineOneWay;
    Stats lineStreamed;

    /// Scenarios with samples only: what the same percentiles would be without any queue or call,
    /// over all samples, and the median of the rounds' P99.
    Stats noQueue;
    double noQueueRoundP99 = -1;

    /// Parts of all CPU time, 0 to 1, that other processes and other machines had; negative when
    /// unknown.
    double others = -1;
    double stolen = -1;
};

/// False when others had a noticeable part of the CPUs, or when the time of a cache line changed so
/// much that the rounds came from what are in effect different machines. Ratios of paired rounds
/// still mean something in the second case; medians less so.
bool isSteady(const MachineRecord& record) noexcept;

struct Report {
    Environment environment;
    Repetition repetition;
    bool quick = false;
    std::vector<MachineRecord> machine;
    std::vector<Subject> subjects;
    std::vector<Result> results;
    std::vector<Comparison> comparisons;
    std::vector<Verdict> verdicts;
};

/// True when a round of the result broke an identity or could not be run; its figures mean nothing.
bool isInvalid(const Result& result) noexcept;

/// Computes the statistics and the flags of one subject in one scenario.
Result makeResult(const Scenario& scenario, const std::string& subject, const RoundPlan& plan,
                  Series series, const MachineRecord& machine, bool quick);

}  // namespace sluice::bench
