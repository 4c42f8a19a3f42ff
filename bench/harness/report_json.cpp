#include "harness/report_json.hpp"

namespace sluice::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr int schemaVersion = 1;

Json known(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}
Json known(double value) {
    return value < 0 ? Json(nullptr) : Json(value);
}

std::string pacingName(Pacing pacing) {
    return pacing == Pacing::harvest ? "harvest" : "none";
}

Json environmentJson(const Environment& environment) {
    return {{"cpu", known(environment.cpu)},
            {"cpus", environment.cpus},
            {"governor", known(environment.governor)},
            {"virtual_machine", environment.virtualMachine},
            {"kernel", known(environment.kernel)},
            {"clock_source", known(environment.clockSource)},
            {"compiler", known(environment.compiler)},
            {"flags", known(environment.flags)},
            {"assertions", environment.assertions},
            {"sanitized", environment.sanitized},
            {"started_at", known(environment.startedAt)},
            {"clock_ns", known(environment.clockNs)}};
}

Json subjectJson(const Subject& subject) {
    return {{"id", subject.id},
            {"library", subject.library},
            {"version", known(subject.version)},
            {"ours", subject.ours},
            {"present", subject.absentBecause.empty()},
            {"absent_because", known(subject.absentBecause)},
            {"use", subject.use},
            {"pacing", pacingName(subject.pacing)},
            {"features",
             {{"topology", subject.features.topology},
              {"bound", known(subject.features.bound)},
              {"order", known(subject.features.order)},
              {"allocates", subject.features.allocates},
              {"in_place", subject.features.inPlace}}}};
}

Json callParamsJson(const Result& result) {
    const RoundPlan& plan = result.plan;
    return {{"block_bytes", result.scenario.messageBytes},
            {"cpu", plan.placement.consumerCpu},
            {"live_blocks", plan.capacity},
            {"freed_in_random_order", plan.shuffled},
            {"run_in_calls", plan.runIn},
            {"calls", plan.messages}};
}

Json eventParamsJson(const Result& result) {
    const RoundPlan& plan = result.plan;
    return {{"what", result.scenario.what},
            {"cpu", plan.placement.consumerCpu},
            {"other_cpus", plan.placement.producerCpus},
            {"listeners_or_queued", plan.capacity},
            {"run_in", plan.runIn},
            {"times", plan.messages}};
}

Json paramsJson(const Result& result) {
    if (result.scenario.kind == Kind::eventCost) {
        return eventParamsJson(result);
    }
    if (!hasConsumer(result.scenario.kind)) {
        return callParamsJson(result);
    }
    const RoundPlan& plan = result.plan;
    Json params = {{"message_bytes", result.scenario.messageBytes},
                   {"capacity", plan.capacity},
                   {"producers", plan.producers()},
                   {"consumer_cpu", plan.placement.consumerCpu},
                   {"producer_cpus", plan.placement.producerCpus},
                   {"oversubscribed", plan.placement.oversubscribed},
                   {"waiting", plan.placement.oversubscribed ? "yield" : "spin"},
                   {"run_in_messages", plan.runIn},
                   {"messages", plan.messages}};
    if (result.scenario.kind == Kind::loadedLatency) {
        params["probe_stride"] = plan.probeStride;
    }
    if (result.scenario.kind == Kind::idleLatency) {
        params["rest_ns"] = plan.restNs;
    }
    if (hasConsumer(result.scenario.kind) && hasSamples(result.scenario.kind)) {
        params["timeout_ns"] = plan.timeoutNs;
    }
    return params;
}

Json countsJson(const Result& result) {
    const Counts& counts = result.series.counts;
    Json json = {{"planned", counts.planned},     {"attempted", counts.attempted},
                 {"accepted", counts.accepted},   {"rejected", counts.rejected},
                 {"delivered", counts.delivered}, {"disorder", counts.disorder}};
    if (hasConsumer(result.scenario.kind) && hasSamples(result.scenario.kind)) {
        json["timed_out"] = result.series.timedOut;
    }
    return json;
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

Json resultJson(const Result& result) {
    const std::string unit = result.scenario.kind == Kind::residentMemory ? "mib" : "ns";
    Json json = {{"suite", result.scenario.suite},
                 {"scenario", result.scenario.name},
                 {"kind", kindName(result.scenario.kind)},
                 {"subject", result.subject},
                 {"params", paramsJson(result)},
                 {"counts", countsJson(result)},
                 {"involuntary_switches", result.series.involuntarySwitches},
                 {"rounds_" + unit, result.series.roundNs},
                 {"stats", statsJson(result.stats, unit)},
                 {"error", known(result.series.error)},
                 {"flags", result.flags}};
    if (hasSamples(result.scenario.kind)) {
        json["rounds_p99_ns"] = result.series.roundP99;
    }
    if (result.scenario.kind == Kind::loadedLatency) {
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
            {"steady", isSteady(record)}};
}

Json comparisonJson(const Comparison& comparison) {
    return {{"scenario", comparison.scenario}, {"subject", comparison.subject},
            {"baseline", comparison.baseline}, {"role", comparison.role},
            {"ratio", comparison.ratio},       {"ratio_min", comparison.ratioMin},
            {"ratio_max", comparison.ratioMax}};
}

Json verdictJson(const Verdict& verdict) {
    return {{"scenario", verdict.target.scenario},
            {"subject", verdict.target.subject},
            {"baseline", known(verdict.target.baseline)},
            {"at_most", verdict.target.atMost},
            {verdict.target.baseline.empty() ? "median" : "ratio", verdict.reached},
            {"met", verdict.isMet}};
}

}  // namespace

std::string kindName(Kind kind) {
    switch (kind) {
    case Kind::throughput:
        return "e2e-throughput";
    case Kind::loadedLatency:
        return "loaded-latency";
    case Kind::idleLatency:
        return "idle-latency";
    case Kind::callCost:
        return "call-cost";
    case Kind::callLatency:
        return "call-latency";
    case Kind::residentMemory:
        return "resident-memory";
    case Kind::eventCost:
        return "event-cost";
    }
    return {};
}

nlohmann::ordered_json toJson(const Report& report) {
    Json json;
    json["schema"] = schemaVersion;
    json["run"] = {{"quick", report.quick},
                   {"warmups", report.repetition.warmups},
                   {"rounds", report.repetition.rounds},
                   {"order", "interleaved, rotating"}};
    json["environment"] = environmentJson(report.environment);
    json["machine"] = Json::array();
    for (const MachineRecord& record : report.machine) {
        json["machine"].push_back(machineJson(record));
    }
    json["subjects"] = Json::array();
    for (const Subject& subject : report.subjects) {
        json["subjects"].push_back(subjectJson(subject));
    }
    json["results"] = Json::array();
    for (const Result& result : report.results) {
        json["results"].push_back(resultJson(result));
    }
    json["comparisons"] = Json::array();
    for (const Comparison& comparison : report.comparisons) {
        json["comparisons"].push_back(comparisonJson(comparison));
    }
    json["targets"] = Json::array();
    for (const Verdict& verdict : report.verdicts) {
        json["targets"].push_back(verdictJson(verdict));
    }
    return json;
}

}  // namespace sluice::bench
