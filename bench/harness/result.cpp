#include "harness/result.hpp"

#include <utility>

namespace sluice::bench {

namespace {

// Above this spread a median says little (standard deviation / mean, over the rounds).
constexpr double unreliableCv = 0.3;

// The largest change of the time of a cache line that still counts as the same machine.
constexpr double steadyFactor = 1.5;

// The largest part of the CPU time that may go elsewhere unremarked.
constexpr double disturbance = 0.02;

// With fewer values the nearest-rank P99 is the largest value.
constexpr std::size_t samplesForP99 = 100;

std::vector<std::string> flagsOf(const Result& result, const MachineRecord& machine, bool quick) {
    std::vector<std::string> flags;
    if (!result.series.error.empty()) {
        flags.emplace_back("INVALID");
    }
    if (summarize(result.series.roundNs).cv > unreliableCv) {
        flags.emplace_back("UNRELIABLE");
    }
    if (!isSteady(machine)) {
        flags.emplace_back("MACHINE_UNSTEADY");
    }
    if (quick) {
        flags.emplace_back("QUICK");
    }
    if (result.plan.placement.oversubscribed) {
        flags.emplace_back("OVERSUBSCRIBED");
    }
    if (result.stats.samples < samplesForP99) {
        flags.emplace_back("P99_IS_MAX");
    }
    if (result.series.counts.disorder != 0) {
        flags.emplace_back("REORDERED");
    }
    if (result.series.timedOut != 0) {
        flags.emplace_back("TIMEOUTS");
    }
    if (result.series.roundsBehindSchedule != 0) {
        flags.emplace_back("BEHIND_SCHEDULE");
    }
    return flags;
}

}  // namespace

bool hasSamples(Kind kind) noexcept {
    return kind == Kind::loadedLatency || kind == Kind::idleLatency || kind == Kind::callLatency;
}

bool hasConsumer(Kind kind) noexcept {
    return kind == Kind::throughput || kind == Kind::loadedLatency || kind == Kind::idleLatency;
}

bool isSteady(const MachineRecord& record) noexcept {
    return record.lineOneWay.max <= steadyFactor * record.lineOneWay.min &&
           record.others <= disturbance && record.stolen <= disturbance;
}

bool isInvalid(const Result& result) noexcept {
    return !result.series.error.empty();
}

Result makeResult(const Scenario& scenario, const std::string& subject, const RoundPlan& plan,
                  Series series, const MachineRecord& machine, bool quick) {
    Result result{scenario, subject, plan, std::move(series), {}, {}};
    const bool samples = hasSamples(scenario.kind);
    result.stats = summarize(samples ? result.series.samples : result.series.roundNs);
    result.flags = flagsOf(result, machine, quick);
    return result;
}

}  // namespace sluice::bench
