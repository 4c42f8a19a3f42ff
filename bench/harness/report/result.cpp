#include "harness/report/result.hpp"

#include "harness/report/disturbance.hpp"
#include "harness/report/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace sluice::bench {

namespace {

// With fewer values the nearest-rank P99 is the largest value.
constexpr std::size_t samplesForP99 = 100;

// Reading the clock is flagged above the first part of a timed interval, and is an error above the
// second.
constexpr double noticedOverhead = 0.01;
constexpr double worstOverhead = 0.10;

// A round is slow if its time is this many times the median.
constexpr double outlier = 1.3;

double overheadOf(const Result& result, double clockNs) {
    if (clockNs < 0) {
        return -1;
    }
    if (hasSamples(result.scenario.kind)) {
        return result.stats.median > 0 ? clockNs / result.stats.median : -1;
    }
    double worst = -1;
    for (const RoundRecord& record : result.series.records) {
        if (record.timedNs > 0) {
            worst = std::max(worst, double(record.clockReads) * clockNs / record.timedNs);
        }
    }
    return worst;
}

// Why the figures mean nothing, even if the books of each round balance.
std::string complaintOf(const Result& result) {
    if (!hasSamples(result.scenario.kind) && result.clockOverhead > worstOverhead) {
        return "reading the clock took " + std::to_string(int(100 * result.clockOverhead)) +
               " % of a timed interval";
    }
    for (const RoundRecord& record : result.series.records) {
        const double messages = double(record.counts.delivered);
        if (record.perf.instructions.value_or(result.instructionFloor * messages) <
            result.instructionFloor * messages) {
            return "fewer instructions than the payload alone needs: a loop was optimised away";
        }
    }
    return {};
}

std::vector<std::string> flagsOf(const Result& result, const MachineRecord& machine,
                                 const Conditions& conditions) {
    const Series& series = result.series;
    const Kind kind = result.scenario.kind;
    const bool fewRounds = series.error.empty() && series.roundNs.size() < fewestRounds;
    const std::pair<bool, const char*> all[] = {
        {!series.error.empty(), "INVALID"},
        {summarize(series.roundNs).cv > unreliableCv, "UNRELIABLE"},
        {!isSteady(machine), "MACHINE_UNSTEADY"},
        {conditions.quick, "QUICK"},
        {conditions.interrupted, "INTERRUPTED"},
        {fewRounds && !conditions.quick, "TOO_FEW_ROUNDS"},
        {result.plan.placement.oversubscribed, "OVERSUBSCRIBED"},
        {!result.plan.placement.roaming.empty(), "UNPINNED"},
        {result.stats.samples < samplesForP99, "P99_IS_MAX"},
        {result.clockOverhead > noticedOverhead, "CLOCK_OVERHEAD"},
        {kind == Kind::overflow, "OVERFLOW"},
        {kind == Kind::rawEnqueue && series.counts.rejected != 0, "REJECTED_IN_RAW"},
        // In a flood each priority overtakes the lower ones, and refused messages are left out.
        {series.counts.disorder != 0 && kind != Kind::floodLatency, "REORDERED"},
        {series.counts.backInTime != 0, "BACK_IN_TIME"},
        {series.timedOut != 0, "TIMEOUTS"},
        {series.roundsBehindSchedule != 0, "BEHIND_SCHEDULE"},
    };
    std::vector<std::string> flags;
    for (const auto& [applies, name] : all) {
        if (applies) {
            flags.emplace_back(name);
        }
    }
    return flags;
}

std::string oneDecimal(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

// The mean of a count over the slow rounds, or over the others.
template <class CountOf>
double meanOf(const Series& series, double limit, bool slow, CountOf countOf) {
    double sum = 0;
    double rounds = 0;
    for (const RoundRecord& record : series.records) {
        if ((record.ns > limit) == slow) {
            sum += double(countOf(record));
            ++rounds;
        }
    }
    return rounds > 0 ? sum / rounds : 0;
}

// The disturbances that were greater in the slow rounds, as far as the system tells.
std::vector<std::string> suspectsOf(const Result& result, const MachineRecord& machine) {
    std::vector<std::string> suspects;
    const Series& series = result.series;
    if (!isUnreliable(series)) {
        return suspects;
    }
    const double limit = outlier * median(series.roundNs);
    const auto suspect = [&](auto countOf, const char* what) {
        const double slow = meanOf(series, limit, true, countOf);
        const double usual = meanOf(series, limit, false, countOf);
        if (slow > usual) {
            suspects.push_back(oneDecimal(slow) + " " + what + " in a slow round, " +
                               oneDecimal(usual) + " in another");
        }
    };
    suspect([](const RoundRecord& each) { return each.usage.involuntarySwitches; },
            "involuntary context switches");
    suspect([](const RoundRecord& each) { return each.usage.majorFaults; },
            "page faults that waited for a device");
    suspect([](const RoundRecord& each) { return each.perf.migrations.value_or(0); },
            "migrations to another CPU");
    const auto accuse = [&suspects](double share, const char* what) {
        if (share > disturbance) {
            suspects.push_back(oneDecimal(100 * share) + " % of the CPU time " + what);
        }
    };
    accuse(machine.stolen, "stolen by other virtual machines");
    accuse(machine.others, "used by other processes");
    return suspects;
}

}  // namespace

bool hasSamples(Kind kind) noexcept {
    return kind == Kind::loadedLatency || kind == Kind::floodLatency || kind == Kind::idleLatency ||
           kind == Kind::callLatency;
}

bool hasConsumer(Kind kind) noexcept {
    return kind == Kind::throughput || kind == Kind::loadedLatency || kind == Kind::floodLatency ||
           kind == Kind::idleLatency;
}

bool passesMessages(Kind kind) noexcept {
    return hasConsumer(kind) || kind == Kind::rawEnqueue || kind == Kind::overflow;
}

bool isRanked(Kind kind) noexcept {
    // Under load every subject has its own rate: a ratio would compare different things. A single
    // call takes about as long as reading the clock: a ratio would compare the clock with itself.
    return kind != Kind::overflow && kind != Kind::loadedLatency && kind != Kind::floodLatency &&
           kind != Kind::callLatency;
}

bool hasTwin(Kind kind) noexcept {
    return isRanked(kind) && kind != Kind::residentMemory;
}

bool isSteady(const MachineRecord& record) noexcept {
    return record.lineOneWay.max <= steadyFactor * record.lineOneWay.min && !wasDisturbed(record);
}

bool isInvalid(const Result& result) noexcept {
    return !result.series.error.empty();
}

std::string whyLoopsUnchecked(const Result& result, const Environment& environment) {
    if (!environment.noPerfCounters.empty()) {
        return environment.noPerfCounters;
    }
    if (result.instructionFloor < 0) {
        return "nobody knows how few instructions " + result.scenario.name + " can take";
    }
    const std::vector<RoundRecord>& records = result.series.records;
    const bool isCounted =
        std::all_of(records.begin(), records.end(),
                    [](const RoundRecord& record) { return record.perf.instructions.has_value(); });
    return isCounted ? "" : "the counters were shared with other programs";
}

std::string roundsText(const Report& report) {
    std::map<std::string, std::size_t> most;
    for (const Result& result : report.results) {
        std::size_t& rounds = most[result.scenario.name];
        rounds = std::max(rounds, result.series.roundNs.size());
    }
    const auto byRounds = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, greatest] = std::minmax_element(most.begin(), most.end(), byRounds);
    const std::size_t planned = report.repetition.rounds;
    const std::size_t from = most.empty() ? 0 : least->second;
    const std::size_t to = most.empty() ? 0 : greatest->second;
    return (from == to ? std::string() : std::to_string(from) + " to ") + counted(to, "round") +
           (from == planned && to == planned ? std::string()
                                             : ", " + std::to_string(planned) + " planned");
}

bool isPublishable(const Report& report) noexcept {
    return !report.quick && !report.wasInterrupted && !report.unpinned &&
           report.repetition.warmups >= fewestWarmups && report.repetition.rounds >= fewestRounds;
}

double perSecond(const Result& result) noexcept {
    const bool isTime = result.scenario.kind != Kind::residentMemory;
    return isTime && !hasSamples(result.scenario.kind) && result.stats.median > 0
               ? 1e9 / result.stats.median
               : 0;
}

Result makeResult(const Scenario& scenario, const std::string& subject, const RoundPlan& plan,
                  Series series, const MachineRecord& machine, const Conditions& conditions) {
    Result result;
    result.scenario = scenario;
    result.subject = subject;
    result.plan = plan;
    result.series = std::move(series);
    if (plan.placement.oversubscribed) {
        result.scenario.section = oversubscribedSection;
    }
    if (!plan.placement.roaming.empty()) {
        result.scenario.section = unpinnedSection;
    }
    const bool samples = hasSamples(scenario.kind);
    result.stats = summarize(samples ? result.series.samples : result.series.roundNs);
    result.clockOverhead = overheadOf(result, machine.clockNs);
    result.instructionFloor = conditions.instructionFloor;
    if (result.series.error.empty()) {
        result.series.error = complaintOf(result);
    }
    result.flags = flagsOf(result, machine, conditions);
    result.suspects = suspectsOf(result, machine);
    return result;
}

bool hasFlag(const Result& result, const std::string& flag) {
    return std::find(result.flags.begin(), result.flags.end(), flag) != result.flags.end();
}

}  // namespace sluice::bench
