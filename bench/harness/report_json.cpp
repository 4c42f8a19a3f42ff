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
              {"bound", subject.features.bound},
              {"order", subject.features.order},
              {"allocates", subject.features.allocates},
              {"in_place", subject.features.inPlace}}}};
}

Json paramsJson(const Result& result) {
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
    if (result.scenario.kind != Kind::throughput) {
        params["timeout_ns"] = plan.timeoutNs;
    }
    return params;
}

Json countsJson(const Result& result) {
    const Counts& counts = result.series.counts;
    Json json = {{"planned", counts.planned},     {"attempted", counts.attempted},
                 {"accepted", counts.accepted},   {"rejected", counts.rejected},
                 {"delivered", counts.delivered}, {"disorder", counts.disorder}};
    if (result.scenario.kind != Kind::throughput) {
        json["timed_out"] = result.series.timedOut;
    }
    return json;
}

Json statsJson(const Stats& stats) {
    if (stats.samples == 0) {
        return nullptr;
    }
    return {{"samples", stats.samples}, {"median_ns", stats.median},
            {"mean_ns", stats.mean},    {"stddev_ns", stats.stddev},
            {"cv", stats.cv},           {"p50_ns", stats.p50},
            {"p95_ns", stats.p95},      {"p99_ns", stats.p99},
            {"min_ns", stats.min},      {"max_ns", stats.max}};
}

Json resultJson(const Result& result) {
    Json json = {{"suite", result.scenario.suite},
                 {"scenario", result.scenario.name},
                 {"kind", kindName(result.scenario.kind)},
                 {"subject", result.subject},
                 {"params", paramsJson(result)},
                 {"counts", countsJson(result)},
                 {"involuntary_switches", result.series.involuntarySwitches},
                 {"rounds_ns", result.series.roundNs},
                 {"stats", statsJson(result.stats)},
                 {"error", known(result.series.error)},
                 {"flags", result.flags}};
    if (result.scenario.kind != Kind::throughput) {
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
            {"no_queue_latency", statsJson(record.noQueue)},
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

}  // namespace

std::string kindName(Kind kind) {
    switch (kind) {
    case Kind::throughput:
        return "e2e-throughput";
    case Kind::loadedLatency:
        return "loaded-latency";
    case Kind::idleLatency:
        return "idle-latency";
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
    return json;
}

}  // namespace sluice::bench
