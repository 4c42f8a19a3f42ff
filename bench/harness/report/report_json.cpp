#include "harness/report/report_json.hpp"

#include "harness/report/checklist.hpp"
#include "harness/report/environment_json.hpp"
#include "harness/statistics/histogram.hpp"

#include <cmath>
#include <optional>
#include <vector>

namespace sluice::bench {

namespace {

constexpr int schemaVersion = 1;

std::string pacingName(Pacing pacing) {
    return pacing == Pacing::harvest ? "harvest" : "none";
}

Json threadSafeJson(const Features& features) {
    const std::optional<bool> isSafe = isThreadSafe(features);
    return isSafe ? Json(*isSafe) : Json(nullptr);
}

Json subjectJson(const Subject& subject) {
    return {{"id", subject.id},
            {"library", subject.library},
            {"version", known(subject.version)},
            {"prebuilt", subject.prebuilt},
            {"ours", subject.ours},
            {"present", subject.absentBecause.empty()},
            {"absent_because", known(subject.absentBecause)},
            {"use", subject.use},
            {"pacing", pacingName(subject.pacing)},
            {"features",
             {{"topology", subject.features.topology},
              {"thread_safe", threadSafeJson(subject.features)},
              {"bound", known(subject.features.bound)},
              {"order", known(subject.features.order)},
              {"allocates", subject.features.allocates},
              {"in_place", subject.features.inPlace},
              {"blocking", subject.features.blocking},
              {"priority", subject.features.priority},
              {"back_pressure", subject.features.backPressure},
              {"statistics", subject.features.statistics},
              {"type_erasure", subject.features.typeErasure}}}};
}

// If threads are tied to no CPU, their CPUs are unknown.
template <class Cpus>
Json cpusJson(const Placement& placement, const Cpus& cpus) {
    return placement.roaming.empty() ? Json(cpus) : Json(nullptr);
}

Json callParamsJson(const Result& result) {
    const RoundPlan& plan = result.plan;
    return {{"block_bytes", result.scenario.messageBytes},
            {"cpu", cpusJson(plan.placement, plan.placement.consumerCpu)},
            {"live_blocks", plan.capacity},
            {"freed_in_random_order", plan.shuffled},
            {"run_in_calls", plan.runIn},
            {"calls", plan.messages}};
}

Json eventParamsJson(const Result& result) {
    const RoundPlan& plan = result.plan;
    return {{"what", result.scenario.what},
            {"cpu", cpusJson(plan.placement, plan.placement.consumerCpu)},
            {"other_cpus", cpusJson(plan.placement, plan.placement.producerCpus)},
            {"listeners_or_queued", plan.capacity},
            {"run_in", plan.runIn},
            {"times", plan.messages}};
}

Json logParamsJson(const Result& result) {
    const RoundPlan& plan = result.plan;
    const bool isMemory = result.scenario.kind == Kind::residentMemory;
    return {{"what", result.scenario.what},
            {"capacity", plan.capacity},
            {"producers", isMemory ? plan.capacity : plan.producers()},
            {"interval_ns", plan.intervalNs},
            {"load", plan.load},
            {"back_end_cpu", cpusJson(plan.placement, plan.placement.consumerCpu)},
            {"producer_cpus", cpusJson(plan.placement, plan.placement.producerCpus)},
            {"run_in", plan.runIn},
            {"records", plan.messages}};
}

Json paramsOfKindJson(const Result& result) {
    if (result.scenario.kind == Kind::eventCost) {
        return eventParamsJson(result);
    }
    if (result.scenario.suite == "log") {
        return logParamsJson(result);
    }
    if (!passesMessages(result.scenario.kind)) {
        return callParamsJson(result);
    }
    const RoundPlan& plan = result.plan;
    Json params = {{"message_bytes", result.scenario.messageBytes},
                   {"capacity", plan.capacity},
                   {"producers", plan.producers()},
                   {"consumer_cpu", cpusJson(plan.placement, plan.placement.consumerCpu)},
                   {"producer_cpus", cpusJson(plan.placement, plan.placement.producerCpus)},
                   {"oversubscribed", plan.placement.oversubscribed},
                   {"waiting", plan.placement.oversubscribed ? "yield" : "spin"},
                   {"run_in_messages", plan.runIn},
                   {"messages", plan.messages}};
    if (result.scenario.kind == Kind::loadedLatency) {
        params["load"] = plan.load;
        params["probe_stride"] = plan.probeStride;
        params["schedule"] = plan.arrivals == ArrivalProcess::poisson ? "poisson" : "constant";
        params["schedule_seed"] =
            plan.arrivals == ArrivalProcess::poisson ? Json(plan.arrivalSeed) : Json(nullptr);
    }
    if (result.scenario.kind == Kind::floodLatency) {
        params["load"] = plan.load;
        params["handle_ns"] = plan.handleNs;
    }
    if (plan.batch != 0 && !hasConsumer(result.scenario.kind)) {
        params["batch"] = plan.batch;
    }
    if (result.scenario.kind == Kind::idleLatency) {
        params["rest_ns"] = plan.restNs;
    }
    if (hasConsumer(result.scenario.kind) && hasSamples(result.scenario.kind)) {
        params["timeout_ns"] = plan.timeoutNs;
    }
    return params;
}

Json paramsJson(const Result& result) {
    Json params = paramsOfKindJson(result);
    params["pinned"] = result.plan.placement.roaming.empty();
    return params;
}

Json countsJson(const Counts& counts) {
    return {{"planned", counts.planned},        {"attempted", counts.attempted},
            {"accepted", counts.accepted},      {"rejected", counts.rejected},
            {"dropped", counts.dropped},        {"queued", counts.queued},
            {"delivered", counts.delivered},    {"disorder", counts.disorder},
            {"back_in_time", counts.backInTime}};
}

Json countsJson(const Result& result) {
    Json json = countsJson(result.series.counts);
    if (hasConsumer(result.scenario.kind) && hasSamples(result.scenario.kind)) {
        json["timed_out"] = result.series.timedOut;
    }
    if (result.scenario.kind == Kind::floodLatency) {
        json["lost"] = result.series.lost;
    }
    if (result.scenario.kind == Kind::loadedLatency) {
        json["late_sends"] = result.series.lateSends;
    }
    return json;
}

Json roundJson(const RoundRecord& record) {
    const bool isTimed = record.timedNs > 0;
    return {{"index", record.index},
            {"process", record.process},
            {"place", record.place},
            {"ns", record.ns},
            {"interval_ns", isTimed ? Json(record.timedNs) : Json(nullptr)},
            {"timed_messages", isTimed ? Json(record.timedMessages) : Json(nullptr)},
            {"clock_reads", isTimed ? Json(record.clockReads) : Json(nullptr)},
            {"counts", countsJson(record.counts)},
            {"voluntary_switches", record.usage.voluntarySwitches},
            {"involuntary_switches", record.usage.involuntarySwitches},
            {"minor_faults", record.usage.minorFaults},
            {"major_faults", record.usage.majorFaults},
            {"peak_memory_mib", known(record.usage.peakMemoryMib)},
            {"perf",
             {{"cycles", known(record.perf.cycles)},
              {"instructions", known(record.perf.instructions)},
              {"cache_misses", known(record.perf.cacheMisses)},
              {"branch_misses", known(record.perf.branchMisses)},
              {"migrations", known(record.perf.migrations)}}},
            {"allocations", record.allocations ? Json(*record.allocations) : Json(nullptr)}};
}

Json perSecondJson(const Result& result) {
    const char* const unit = passesMessages(result.scenario.kind)          ? "msg/s"
                             : result.scenario.kind == Kind::eventCost     ? "event/s"
                             : result.scenario.kind == Kind::logThroughput ? "record/s"
                                                                           : "call/s";
    return {{"unit", unit}, {"value", perSecond(result)}};
}

// The median over the rounds of a count per delivered message. Null if no round has it.
template <class CountOf>
Json medianPerMessage(const Result& result, CountOf countOf) {
    std::vector<double> values;
    for (const RoundRecord& record : result.series.records) {
        const std::optional<double> count = countOf(record);
        if (count && record.counts.delivered != 0) {
            values.push_back(*count / double(record.counts.delivered));
        }
    }
    return values.empty() ? Json(nullptr) : Json(median(values));
}

Json perMessageJson(const Result& result) {
    const auto perf = [&result](std::optional<double> PerfCounts::*count) {
        return medianPerMessage(result,
                                [count](const RoundRecord& record) { return record.perf.*count; });
    };
    const auto switches = [](const RoundRecord& record) {
        return std::optional<double>(
            double(record.usage.voluntarySwitches + record.usage.involuntarySwitches));
    };
    return {{"cycles", perf(&PerfCounts::cycles)},
            {"instructions", perf(&PerfCounts::instructions)},
            {"cache_misses", perf(&PerfCounts::cacheMisses)},
            {"branch_misses", perf(&PerfCounts::branchMisses)},
            {"context_switches", medianPerMessage(result, switches)},
            {"allocations", known(result.allocationsPerMessage)}};
}

Json histogramJson(const std::vector<double>& samples) {
    Json buckets = Json::array();
    for (const Bucket& bucket : histogramOf(samples)) {
        buckets.push_back({bucket.from, bucket.to, bucket.count});
    }
    return buckets;
}

// An interval that is the whole line has no numbers as ends.
Json endJson(double end) {
    return end > 0 && std::isfinite(end) ? Json(end) : Json(nullptr);
}

Json statsJson(const Stats& stats, const std::string& unit) {
    if (stats.samples == 0) {
        return nullptr;
    }
    return {{"samples", stats.samples},
            {"median_" + unit, stats.median},
            {"mean_" + unit, stats.mean},
            {"stddev_" + unit, stats.stddev},
            {"cv", stats.cv},
            {"p50_" + unit, stats.p50},
            {"p95_" + unit, stats.p95},
            {"p99_" + unit, stats.p99},
            {"p999_" + unit, stats.p999},
            {"min_" + unit, stats.min},
            {"max_" + unit, stats.max}};
}

Json loopCheckJson(const Result& result, const Environment& environment) {
    const std::string because = whyLoopsUnchecked(result, environment);
    return {{"checked", because.empty()}, {"because", known(because)}};
}

Json resultJson(const Result& result, const Environment& environment) {
    const Kind kind = result.scenario.kind;
    const std::string unit = kind == Kind::residentMemory ? "mib" : "ns";
    std::uint64_t switches = 0;
    Json rounds = Json::array();
    for (const RoundRecord& record : result.series.records) {
        switches += record.usage.involuntarySwitches;
        rounds.push_back(roundJson(record));
    }
    Json json = {{"suite", result.scenario.suite},
                 {"scenario", result.scenario.name},
                 {"kind", kindName(kind)},
                 {"layer", layerName(kind)},
                 {"section", result.scenario.section},
                 {"subject", result.subject},
                 {"params", paramsJson(result)},
                 {"counts", countsJson(result)},
                 {"involuntary_switches", switches},
                 {"rounds_" + unit, result.series.roundNs},
                 {"stats", statsJson(result.stats, unit)},
                 {"overhead_ratio", known(result.clockOverhead)},
                 {"per_message", perMessageJson(result)},
                 {"loop_check", loopCheckJson(result, environment)},
                 {"error", known(result.series.error)},
                 {"flags", result.flags},
                 {"suspects", result.suspects},
                 {"rounds", rounds}};
    if (perSecond(result) > 0) {
        json["per_second"] = perSecondJson(result);
    }
    if (result.instructionFloor >= 0) {
        json["instruction_floor"] = {{"instructions_per_message", result.instructionFloor}};
    }
    if (hasSamples(kind)) {
        json["rounds_p99_ns"] = result.series.roundP99;
        json["histogram"] = histogramJson(result.series.samples);
    }
    if (kind == Kind::loadedLatency) {
        json["rounds_send_interval_ns"] = result.series.roundIntervalNs;
    }
    return json;
}

Json spreadJson(const Stats& stats) {
    if (stats.samples == 0) {
        return nullptr;
    }
    return {{"median", stats.median}, {"min", stats.min}, {"max", stats.max}};
}

Json machineJson(const MachineRecord& record) {
    return {{"scenario", record.scenario},
            {"line_one_way_ns", spreadJson(record.lineOneWay)},
            {"line_streamed_ns", spreadJson(record.lineStreamed)},
            {"no_queue_latency", statsJson(record.noQueue, "ns")},
            {"no_queue_round_p99_ns", known(record.noQueueRoundP99)},
            {"others_share", known(record.others)},
            {"stolen_share", known(record.stolen)},
            {"discarded_rounds", record.discardedRounds},
            {"steady", isSteady(record)}};
}

Json comparisonJson(const Comparison& comparison) {
    return {
        {"scenario", comparison.scenario},
        {"kind", kindName(comparison.kind)},
        {"subject", comparison.subject},
        {"baseline", comparison.baseline},
        {"role", comparison.role},
        {"rounds", comparison.rounds},
        {"ratio", comparison.ratio},
        {"ratio_min", comparison.ratioMin},
        {"ratio_max", comparison.ratioMax},
        {"ci_low", endJson(comparison.interval.low)},
        {"ci_high", endJson(comparison.interval.high)},
        {"noise_floor", comparison.noiseFloor < 0 ? Json(nullptr) : endJson(comparison.noiseFloor)},
        {"verdict", comparison.verdict},
        {"feature_differences", comparison.featureDifferences}};
}

Json noiseFloorJson(const NoiseFloor& noise) {
    return {{"scenario", noise.scenario},
            {"subject", noise.subject},
            {"ratio", noise.ratio},
            {"ci_low", endJson(noise.interval.low)},
            {"ci_high", endJson(noise.interval.high)},
            {"floor", endJson(noise.floor)}};
}

Json checkJson(const CheckItem& item) {
    return {
        {"id", item.id}, {"question", item.question}, {"pass", item.pass}, {"detail", item.detail}};
}

template <class Items, class ToJson>
Json arrayOf(const Items& items, ToJson toJson) {
    Json array = Json::array();
    for (const auto& item : items) {
        array.push_back(toJson(item));
    }
    return array;
}

Json runJson(const Report& report) {
    return {{"suite", report.suite},
            {"quick", report.quick},
            {"publishable", isPublishable(report)},
            {"interrupted", report.wasInterrupted},
            {"skipped_scenarios",
             arrayOf(report.skipped, [](const Skipped& each) { return each.scenario; })},
            {"skipped_because",
             arrayOf(report.skipped, [](const Skipped& each) { return each.because; })},
            {"left_out_scenarios", report.leftOut},
            {"warmups", report.repetition.warmups},
            {"rounds", report.repetition.rounds},
            {"extra_rounds_at_most", report.repetition.extraRounds},
            {"processes", report.processes},
            {"unpinned", report.unpinned},
            {"order", "interleaved, in a balanced Latin square"},
            {"arguments", report.arguments}};
}

Json verdictJson(const Verdict& verdict) {
    return {{"scenario", verdict.target.scenario},
            {"subject", verdict.target.subject},
            {"baseline", known(verdict.target.baseline)},
            {"at_most", verdict.target.atMost},
            {verdict.figure, verdict.reached},
            {"met", verdict.isMet()},
            {"missed", verdict.isMissed()}};
}

}  // namespace

nlohmann::ordered_json toJson(const Report& report) {
    const auto ofResult = [&report](const Result& result) {
        return resultJson(result, report.environment);
    };
    const std::vector<std::string> reasons = notCredibleBecause(report);
    return {{"schema", schemaVersion},
            {"run", runJson(report)},
            {"credible", reasons.empty()},
            {"not_credible_because", reasons},
            {"checklist", arrayOf(checklistOf(report), checkJson)},
            {"environment", environmentJson(report.environment)},
            {"machine", arrayOf(report.machine, machineJson)},
            {"subjects", arrayOf(report.subjects, subjectJson)},
            {"results", arrayOf(report.results, ofResult)},
            {"comparisons", arrayOf(report.comparisons, comparisonJson)},
            {"noise_floor", arrayOf(report.noiseFloors, noiseFloorJson)},
            {"targets", arrayOf(report.verdicts, verdictJson)}};
}

}  // namespace sluice::bench
