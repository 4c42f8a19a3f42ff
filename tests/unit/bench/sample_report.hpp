#pragma once

#include "harness/report/comparison.hpp"
#include "harness/report/result.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

inline Subject subjectNamed(const std::string& id, bool ours, Pacing pacing) {
    Subject subject;
    subject.id = id;
    subject.library = ours ? "sluice" : "peer";
    subject.use = "as documented";
    subject.features = {"spsc", "exact", "all producers", false, true};
    subject.ours = ours;
    subject.pacing = pacing;
    return subject;
}

inline Scenario throughputScenario() {
    return {"queues", "spsc-64B", Kind::throughput, 64, 1, Spread::apart};
}

inline MachineRecord quietMachine() {
    MachineRecord machine;
    machine.scenario = "spsc-64B";
    machine.lineOneWay = summarize({50, 51, 52});
    machine.lineStreamed = summarize({2, 2, 2});
    machine.others = 0;
    machine.stolen = 0;
    machine.clockNs = 25;
    return machine;
}

inline Result resultOf(const std::string& subject, std::vector<double> roundNs) {
    RoundPlan plan;
    plan.placement = placeThreads({0, 1}, 1, Spread::apart);
    plan.messages = 1000;
    Series series;
    series.roundNs = std::move(roundNs);
    series.counts.planned = 10;
    series.counts.attempted = 12;
    series.counts.accepted = 10;
    series.counts.rejected = 2;
    series.counts.delivered = 10;
    return makeResult(throughputScenario(), subject, plan, std::move(series), quietMachine(),
                      Conditions{});
}

inline Result invalidResult(const std::string& subject) {
    Result result = resultOf(subject, {});
    result.series.error = "delivered = accepted: 9 is not 10";
    return makeResult(result.scenario, subject, result.plan, result.series, quietMachine(),
                      Conditions{});
}

/// Ours, two peers as documented and paced, and one that was not compiled in.
inline Report sampleReport() {
    Report report;
    report.environment.cpu = "a processor";
    report.environment.cpus = {0, 1};
    report.subjects = {subjectNamed("sluice/SpscRing", true, Pacing::harvest),
                       subjectNamed("boost/spsc_queue", false, Pacing::none),
                       subjectNamed("boost/spsc_queue/paced", false, Pacing::harvest),
                       subjectNamed("other/queue", false, Pacing::none),
                       subjectNamed("rigtorp/SPSCQueue", false, Pacing::none)};
    report.subjects.back().absentBecause = "not compiled in";
    report.results = {
        resultOf("sluice/SpscRing", {10, 20, 30}), resultOf("boost/spsc_queue", {40, 80, 120}),
        resultOf("boost/spsc_queue/paced", {8, 20, 40}), resultOf("other/queue", {100, 200, 300})};
    report.comparisons = compareWithPeers(report.results, report.subjects);
    report.machine = {quietMachine()};
    return report;
}

}  // namespace sluice::bench
