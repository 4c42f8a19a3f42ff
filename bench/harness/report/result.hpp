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
    floodLatency,  ///< of one priority, under more messages than can be handled
    idleLatency,
    rawEnqueue,      ///< pushes into a queue that has room for all of them, without a consumer
    overflow,        ///< far more pushes than the queue has room for: a demonstration, never ranked
    callCost,        ///< time of one call among many, on one thread
    callLatency,     ///< time of single calls, on one thread
    residentMemory,  ///< MiB that a process of its own takes
    eventCost,       ///< time of one event, listener or change among many, on one thread or several
    logThroughput,   ///< records of one thread or several, until they are in the file
};

/// Whether the figure of a result is one value for each round, or a sample of single times.
bool hasSamples(Kind kind) noexcept;

/// Whether its rounds have a producer and a consumer. Otherwise one thread does all work.
bool hasConsumer(Kind kind) noexcept;

/// Whether it passes messages through a queue, with a consumer or without one.
bool passesMessages(Kind kind) noexcept;

/// Whether results of this kind are compared with each other at all.
bool isRanked(Kind kind) noexcept;

/// Whether its first subject runs twice for a noise floor: this holds for ranked times.
bool hasTwin(Kind kind) noexcept;

/// Names of sections: parts of a suite that belong together. The main section is "".
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

    /// Queues: the capacity. Latency under load: the load as a part of the subject's throughput.
    std::size_t capacity = 0;
    double load = 0;

    /// Latency under load: the gaps between messages.
    ArrivalProcess arrivals = ArrivalProcess::constant;

    /// The CPUs to use, instead of all that the process may use.
    std::vector<int> cpus = {};
};

struct Result {
    Scenario scenario;
    std::string subject;
    RoundPlan plan;
    Series series;

    /// Statistics of the rounds, or of all samples: see hasSamples().
    Stats stats;

    /// The part of the timed interval for reading the clock, in the worst round. Of single times:
    /// one read as a part of their median. Negative if unknown.
    double clockOverhead = -1;

    /// Calls of the allocator for one message of the timed part; no value if they were not counted.
    std::optional<double> allocationsPerMessage;

    /// The user-mode instructions that the payload of one message needs. Negative if unknown.
    double instructionFloor = -1;
    std::vector<std::string> flags;

    /// The disturbances that may have made the result unreliable.
    std::vector<std::string> suspects;
};

/// A comparison of a subject with a baseline: the median over the rounds of (subject / baseline).
/// Each ratio comes from two runs of the same round. Below 1 the subject is faster.
struct Comparison {
    std::string scenario;
    std::string subject;
    std::string baseline;

    /// The role of the baseline, for instance "best peer as documented".
    std::string role;
    double ratio = 0;
    double ratioMin = 0;
    double ratioMax = 0;
    Kind kind = Kind::throughput;
    std::size_t rounds = 0;

    /// Holds the median with a confidence of at least 95 %. The whole line if there are too few
    /// pairs.
    Interval interval;

    /// The difference of a subject from itself in this scenario. Negative if unknown.
    double noiseFloor = -1;

    /// "faster", "slower", "same" or "undecided".
    std::string verdict = "undecided";

    /// The promises in which the two differ.
    std::vector<std::string> featureDifferences;
};

/// The difference of a subject that was entered twice (A/A). A smaller ratio means nothing.
struct NoiseFloor {
    std::string scenario;
    std::string subject;
    double ratio = 1;
    Interval interval;

    /// The end of the interval that is farther from 1, as a factor of at least 1.
    double floor = 1;
};

/// A ratio that a subject must reach. The comparison with the same names tells whether it does.
/// Without a baseline it is a figure of the subject: its median, or for latency under load the
/// median of its rounds' P99.
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

    /// The times of a cache line, measured between the rounds.
    Stats lineOneWay;
    Stats lineStreamed;

    /// Scenarios with samples only: the same percentiles without a queue or a call, over all
    /// samples, and the median of the rounds' P99.
    Stats noQueue;
    double noQueueRoundP99 = -1;

    /// Parts of all CPU time, 0 to 1, that other processes and machines used. Negative if unknown.
    double others = -1;
    double stolen = -1;

    /// The time of one read of the clock.
    double clockNs = -1;

    /// The rounds that did not count, because the machine was not steady.
    std::size_t discardedRounds = 0;
};

/// False if other programs used a noticeable part of the CPUs. Also false if the time of a cache
/// line changed so much that the rounds are not comparable. In the second case, ratios of paired
/// rounds still mean something; medians mean less.
bool isSteady(const MachineRecord& record) noexcept;

/// A scenario that was asked for but not run.
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

    /// The call of the program, and the number of its processes for the rounds.
    std::string suite;
    std::vector<std::string> arguments;
    std::size_t processes = 1;
    bool wasInterrupted = false;

    /// True if the user wanted no thread tied to a CPU.
    bool unpinned = false;

    std::vector<Skipped> skipped;

    /// Scenarios that the options leave out, or that have no subject.
    std::vector<std::string> leftOut;
};

/// "6 rounds", or "1 to 6 rounds, 6 planned": the rounds that were run, by scenario.
std::string roundsText(const Report& report);

/// The fewest warm-ups and rounds of a published report.
inline constexpr std::size_t fewestWarmups = 3;
inline constexpr std::size_t fewestRounds = 10;
bool isPublishable(const Report& report) noexcept;

/// Messages, calls or events per second, counted from accepted or delivered ones, never from
/// attempts. 0 if the result has no such figure.
double perSecond(const Result& result) noexcept;

/// Why the instructions of each round were not checked against its payload. Empty if they were
/// checked.
std::string whyLoopsUnchecked(const Result& result, const Environment& environment);

/// Whether a round of the result broke an identity or could not be run. Then its figures mean
/// nothing.
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
