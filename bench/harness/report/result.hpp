#pragma once

/// \file
/// The results of a run of a suite: the content of the report, not yet formatted.

#include "harness/machine/environment.hpp"
#include "harness/run/interleave.hpp"
#include "harness/run/round.hpp"
#include "harness/run/subject.hpp"
#include "harness/statistics/statistics.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice::bench {

/// The kind of a measurement. Results of different kinds are never ranked against each other.
enum class Kind {
    throughput,
    loadedLatency,
    floodLatency,  ///< of one priority, while more is sent than can be handled
    idleLatency,
    rawEnqueue,      ///< pushes into a queue that has room for all of them, no consumer meanwhile
    overflow,        ///< far more pushes than the queue has room for: a demonstration, never ranked
    callCost,        ///< time of one call among many, on one thread
    callLatency,     ///< time of single calls, on one thread
    residentMemory,  ///< MiB that a process of its own takes
    eventCost,       ///< time of one event, listener or change among many, on one thread or several
    logThroughput,   ///< records of one thread or several, until they are in the file
};

/// Whether the figure of a result is one value for each round, or a sample of single times.
bool hasSamples(Kind kind) noexcept;

/// Whether its rounds have a producer and a consumer; else it is one thread's work.
bool hasConsumer(Kind kind) noexcept;

/// Whether it passes messages through a queue, with a consumer or without one.
bool passesMessages(Kind kind) noexcept;

/// Whether results of this kind are compared with each other at all.
bool isRanked(Kind kind) noexcept;

/// Whether its first subject runs twice, so that there is a noise floor: where times are ranked.
bool hasTwin(Kind kind) noexcept;

/// Parts of a suite that belong together, "" being the main one.
inline const std::string controlGroup = "control group";
inline const std::string loadSection = "load";
inline const std::string poissonSection = "load, Poisson arrivals";
inline const std::string sizeSection = "message size";
inline const std::string depthSection = "depth";
inline const std::string floodSection = "flood";
inline const std::string burstSection = "bursts";
inline const std::string overloadSection = "overload";
inline const std::string sustainedSection = "sustained";
inline const std::string distanceSection = "distance of the CPUs";
inline const std::string oversubscribedSection = "oversubscribed";
inline const std::string unpinnedSection = "unpinned";

struct Scenario {
    std::string suite;
    std::string name;
    Kind kind = Kind::throughput;
    std::size_t messageBytes = 0;  ///< or bytes of a block
    std::size_t producers = 1;
    Spread spread = Spread::apart;

    /// The meaning of one figure, if kind and bytes do not tell it.
    std::string what = {};

    /// The scenarios of the control group run together or not at all.
    std::string section = {};

    /// Queues: the capacity, and of latency under load the part of the subject's own capacity.
    std::size_t capacity = 0;
    double load = 0;

    /// Of latency under load: how the messages follow each other.
    ArrivalProcess arrivals = ArrivalProcess::constant;

    /// The CPUs to use, instead of all that the process may use.
    std::vector<int> cpus = {};
};

struct Result {
    Scenario scenario;
    std::string subject;
    RoundPlan plan;
    Series series;

    /// Over the rounds, or over all samples: see hasSamples().
    Stats stats;

    /// The part of the timed interval that went into reading the clock, in the worst round; of
    /// single times, one read as a part of their median. Negative when unknown.
    double clockOverhead = -1;

    /// Calls of the allocator for one message of the timed part; no value if they were not counted.
    std::optional<double> allocationsPerMessage;

    /// User-mode instructions for one message that its payload alone needs; negative when unknown.
    double instructionFloor = -1;
    std::vector<std::string> flags;

    /// The disturbances that may have made the result unreliable.
    std::vector<std::string> suspects;
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
    Kind kind = Kind::throughput;
    std::size_t rounds = 0;

    /// With so many pairs the median lies in here 19 times out of 20; the whole line when there are
    /// too few to say.
    Interval interval;

    /// The difference that the same subject showed against itself in this scenario; negative if
    /// unknown.
    double noiseFloor = -1;

    /// "faster", "slower", "same" or "undecided".
    std::string verdict = "undecided";

    /// In which promises the two differ.
    std::vector<std::string> featureDifferences;
};

/// The same subject entered twice (A/A): a ratio that is no larger says nothing.
struct NoiseFloor {
    std::string scenario;
    std::string subject;
    double ratio = 1;
    Interval interval;

    /// The end of the interval that is farther from 1, as a factor of at least 1.
    double floor = 1;
};

/// A ratio that a subject is meant to reach; a comparison with the same names tells whether it did.
/// Without a baseline it is a figure of the subject itself: its median or, for latency under load,
/// the median of its rounds' P99.
struct Target {
    std::string scenario;
    std::string subject;
    std::string baseline;
    double atMost = 0;
};

/// The target is met if the whole interval lies below it, and missed if the whole interval lies
/// above it. Otherwise it is undecided: the median of a few rounds is not enough.
struct Verdict {
    Target target;
    double reached = 0;
    Interval interval;
    std::string figure = "ratio";  ///< the reached figure: "ratio", "median" or "p99"

    bool isMet() const { return interval.high <= target.atMost; }
    bool isMissed() const { return interval.low > target.atMost; }
};

/// The state of the machine during a scenario.
struct MachineRecord {
    std::string scenario;

    /// How fast it moved cache lines, measured between the rounds.
    Stats lineOneWay;
    Stats lineStreamed;

    /// Scenarios with samples only: the same percentiles without a queue or a call, over all
    /// samples, and the median of the rounds' P99.
    Stats noQueue;
    double noQueueRoundP99 = -1;

    /// Parts of all CPU time, 0 to 1, that other processes and other machines had; negative when
    /// unknown.
    double others = -1;
    double stolen = -1;

    /// One read of the clock.
    double clockNs = -1;

    /// How often the scenario was measured until the machine was steady; the last time counts.
    std::size_t attempts = 1;
};

/// False when other programs had a noticeable part of the CPUs. Also false when the time of a cache
/// line changed so much that the rounds did not run on equal machines. In the second case, ratios
/// of paired rounds still mean something; medians mean less.
bool isSteady(const MachineRecord& record) noexcept;

/// A scenario that was asked for and not run.
struct Skipped {
    std::string scenario;
    std::string because;
};

struct Report {
    Environment environment;
    Repetition repetition;
    bool quick = false;
    std::vector<MachineRecord> machine;
    std::vector<Subject> subjects;
    std::vector<Result> results;
    std::vector<Comparison> comparisons;
    std::vector<Verdict> verdicts;
    std::vector<NoiseFloor> noiseFloors;

    /// How the program was called, and how often it was started for its rounds.
    std::string suite;
    std::vector<std::string> arguments;
    std::size_t processes = 1;
    bool wasInterrupted = false;

    /// No thread was tied to a CPU, because the user wanted it so.
    bool unpinned = false;

    std::vector<Skipped> skipped;

    /// Scenarios that the options leave out, or that have no subject.
    std::vector<std::string> leftOut;
};

/// "6 rounds", or "1 to 6 rounds, 6 planned": those that were run, by scenario.
std::string roundsText(const Report& report);

/// Fewer warm-ups or rounds than these are not for publication.
inline constexpr std::size_t fewestWarmups = 3;
inline constexpr std::size_t fewestRounds = 10;
bool isPublishable(const Report& report) noexcept;

/// Messages, calls or events per second, from accepted or delivered ones, never from attempts; 0 if
/// the result has no such figure.
double perSecond(const Result& result) noexcept;

/// The reason why it was not checked that each round took the instructions of its payload; empty if
/// it was checked.
std::string whyLoopsUnchecked(const Result& result, const Environment& environment);

/// True when a round of the result broke an identity or could not be run; its figures mean nothing.
bool isInvalid(const Result& result) noexcept;

/// The conditions of a result.
struct Conditions {
    bool quick = false;
    bool interrupted = false;
    double instructionFloor = -1;
};

/// Computes the statistics and the flags of one subject in one scenario.
Result makeResult(const Scenario& scenario, const std::string& subject, const RoundPlan& plan,
                  Series series, const MachineRecord& machine, const Conditions& conditions);

bool hasFlag(const Result& result, const std::string& flag);

}  // namespace sluice::bench
