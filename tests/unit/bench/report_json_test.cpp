#include "harness/report/report_json.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

TEST(ReportJsonTest, HasTheTopLevelOfTheContract) {
    const auto json = toJson(sampleReport());
    for (const char* key :
         {"schema", "run", "environment", "machine", "subjects", "results", "comparisons",
          "noise_floor", "targets", "checklist", "credible", "not_credible_because"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
}

// BR-3: every kind has a name and a layer, and those of two layers are not the same thing.
TEST(ReportJsonTest, TagsEveryResultWithItsLayer) {
    Report report = sampleReport();
    for (const Kind kind : {Kind::throughput, Kind::loadedLatency, Kind::idleLatency,
                            Kind::rawEnqueue, Kind::overflow, Kind::callCost, Kind::callLatency,
                            Kind::residentMemory, Kind::eventCost, Kind::logThroughput}) {
        report.results[0].scenario.kind = kind;
        const auto result = toJson(report)["results"][0];
        EXPECT_EQ(result["kind"], kindName(kind));
        EXPECT_FALSE(kindName(kind).empty());
        EXPECT_EQ(result["layer"], layerName(kind));
        EXPECT_FALSE(layerName(kind).empty());
    }
    EXPECT_NE(layerName(Kind::throughput), layerName(Kind::rawEnqueue));
    EXPECT_NE(layerName(Kind::rawEnqueue), layerName(Kind::callCost));
}

// BR-17: all statistics stand together.
TEST(ReportJsonTest, WritesAResultInFull) {
    const auto result = toJson(sampleReport())["results"][0];
    EXPECT_EQ(result["suite"], "queues");
    EXPECT_EQ(result["scenario"], "spsc-64B");
    EXPECT_EQ(result["kind"], "e2e-throughput");
    EXPECT_EQ(result["subject"], "sluice/SpscRing");
    EXPECT_EQ(result["params"]["message_bytes"], 64);
    EXPECT_EQ(result["params"]["producers"], 1);
    EXPECT_EQ(result["params"]["waiting"], "spin");
    EXPECT_EQ(result["counts"]["attempted"], 12);
    EXPECT_EQ(result["counts"]["rejected"], 2);
    EXPECT_EQ(result["rounds_ns"].size(), 3U);
    for (const char* key : {"median_ns", "mean_ns", "stddev_ns", "cv", "p50_ns", "p95_ns", "p99_ns",
                            "min_ns", "max_ns"}) {
        EXPECT_TRUE(result["stats"].contains(key)) << key;
    }
    EXPECT_TRUE(result["error"].is_null());
    EXPECT_TRUE(result["flags"].is_array());
}

TEST(ReportJsonTest, WritesEachRoundRaw) {
    Report report = sampleReport();
    RoundRecord record;
    record.index = 4;
    record.place = 2;
    record.timedNs = 1000;
    record.clockReads = 2;
    record.timedMessages = 100;
    record.counts.dropped = 3;
    record.usage.minorFaults = 5;
    record.perf.migrations = 1;
    report.results[0].series.records = {record};
    const auto round = toJson(report)["results"][0]["rounds"][0];
    EXPECT_EQ(round["index"], 4);
    EXPECT_EQ(round["place"], 2);
    EXPECT_EQ(round["interval_ns"], 1000);
    EXPECT_EQ(round["clock_reads"], 2);
    EXPECT_EQ(round["counts"]["dropped"], 3);
    EXPECT_EQ(round["minor_faults"], 5);
    EXPECT_EQ(round["perf"]["migrations"], 1);
    EXPECT_TRUE(round["perf"]["instructions"].is_null());
    EXPECT_TRUE(round["allocations"].is_null());
}

TEST(ReportJsonTest, WritesAnIntervalThatIsTheWholeLineAsNull) {
    const auto comparison = toJson(sampleReport())["comparisons"][0];
    EXPECT_TRUE(comparison["ci_low"].is_null());
    EXPECT_TRUE(comparison["ci_high"].is_null());
    EXPECT_EQ(comparison["verdict"], "undecided");
    EXPECT_EQ(comparison["kind"], "e2e-throughput");
}

TEST(ReportJsonTest, SaysWhetherItIsCredibleAndWhyNot) {
    const auto json = toJson(sampleReport());
    EXPECT_EQ(json["checklist"].size(), 7U);
    EXPECT_EQ(json["credible"], false);
    EXPECT_FALSE(json["not_credible_because"].empty());
    EXPECT_EQ(json["run"]["publishable"], true);
}

TEST(ReportJsonTest, WritesSamplesAsAHistogram) {
    Report report = sampleReport();
    report.results[0].scenario.kind = Kind::idleLatency;
    report.results[0].series.samples = {100, 100, 200};
    const auto histogram = toJson(report)["results"][0]["histogram"];
    ASSERT_EQ(histogram.size(), 2U);
    EXPECT_EQ(histogram[0], (std::vector<double>{100, 101, 2}));
}

TEST(ReportJsonTest, WritesNullForWhatIsNotKnown) {
    Report report = sampleReport();
    report.results = {invalidResult("sluice/SpscRing")};
    const auto json = toJson(report);
    EXPECT_TRUE(json["environment"]["governor"].is_null());
    EXPECT_TRUE(json["environment"]["clock_ns"].is_null());
    EXPECT_TRUE(json["results"][0]["stats"].is_null());
    EXPECT_EQ(json["results"][0]["error"], "delivered = accepted: 9 is not 10");
}

TEST(ReportJsonTest, ListsAbsentSubjects) {
    const auto subjects = toJson(sampleReport())["subjects"];
    EXPECT_EQ(subjects.size(), 5U);
    EXPECT_EQ(subjects[0]["present"], true);
    EXPECT_EQ(subjects[0]["features"]["topology"], "spsc");
    EXPECT_EQ(subjects[4]["present"], false);
    EXPECT_EQ(subjects[4]["absent_because"], "not compiled in");
}

// BR-1: the record of features is complete. An unknown feature is null and not "no".
TEST(ReportJsonTest, WritesWhatASubjectPromises) {
    Report report = sampleReport();
    report.subjects[1].features = {};
    const auto subjects = toJson(report)["subjects"];
    for (const char* key :
         {"topology", "thread_safe", "bound", "order", "allocates", "in_place", "blocking",
          "priority", "back_pressure", "statistics", "type_erasure"}) {
        EXPECT_TRUE(subjects[0]["features"].contains(key)) << key;
    }
    EXPECT_EQ(subjects[0]["features"]["thread_safe"], true);
    EXPECT_TRUE(subjects[1]["features"]["thread_safe"].is_null());
}

// BR-21: the pair of CPUs, and the distances that the machine has and has not.
TEST(ReportJsonTest, WritesHowFarApartTheThreadsAre) {
    Report report = sampleReport();
    for (int cpu = 0; cpu < 3; ++cpu) {
        CpuPlace place;
        place.cpu = place.core = cpu;
        place.package = place.l3 = cpu / 2;
        report.environment.topology.push_back(place);
    }
    const auto environment = toJson(report)["environment"];
    EXPECT_EQ(environment["main_pair"]["distance"], "same L3");
    EXPECT_EQ(environment["main_pair"]["cpus"], (std::vector<int>{0, 1}));
    EXPECT_EQ(environment["pairs_by_distance"].size(), 2U);
    EXPECT_EQ(environment["distances_missing"][0]["distance"], "same core");
    EXPECT_EQ(environment["distances_missing"].size(), 2U);
    EXPECT_TRUE(toJson(Report{})["environment"]["main_pair"].is_null());
}

// BR-22: a run without pins says so, and names no CPU that it cannot know.
TEST(ReportJsonTest, WritesWhetherThreadsWerePinned) {
    Report report = sampleReport();
    EXPECT_EQ(toJson(report)["run"]["unpinned"], false);
    EXPECT_EQ(toJson(report)["results"][0]["params"]["pinned"], true);
    EXPECT_EQ(toJson(report)["results"][0]["params"]["consumer_cpu"], 1);
    report.unpinned = true;
    report.results[0].plan.placement.roaming = {0, 1};
    const auto json = toJson(report);
    EXPECT_EQ(json["run"]["unpinned"], true);
    EXPECT_EQ(json["run"]["publishable"], false);
    EXPECT_EQ(json["results"][0]["params"]["pinned"], false);
    EXPECT_TRUE(json["results"][0]["params"]["consumer_cpu"].is_null());
}

// BX-1: the schedule of an open-loop producer is named, and so is the seed of a random one.
TEST(ReportJsonTest, WritesTheScheduleOfSends) {
    Report report = sampleReport();
    for (Result& result : report.results) {
        result.scenario.kind = Kind::loadedLatency;
    }
    report.results[1].plan.arrivals = ArrivalProcess::poisson;
    report.results[1].plan.arrivalSeed = 7;
    report.results[1].series.lateSends = 3;
    const auto results = toJson(report)["results"];
    EXPECT_EQ(results[0]["params"]["schedule"], "constant");
    EXPECT_TRUE(results[0]["params"]["schedule_seed"].is_null());
    EXPECT_EQ(results[1]["params"]["schedule"], "poisson");
    EXPECT_EQ(results[1]["params"]["schedule_seed"], 7);
    EXPECT_EQ(results[1]["counts"]["late_sends"], 3);
}

TEST(ReportJsonTest, SaysWhetherALoopCouldHaveBeenOptimisedAway) {
    Report report = sampleReport();
    report.environment.noPerfCounters = "perf_event_open: not to be had";
    auto check = toJson(report)["results"][0]["loop_check"];
    EXPECT_EQ(check["checked"], false);
    EXPECT_EQ(check["because"], "perf_event_open: not to be had");
    report.environment.noPerfCounters.clear();
    report.results[0].instructionFloor = 3;
    report.results[0].series.records.resize(1);
    EXPECT_EQ(toJson(report)["results"][0]["loop_check"]["checked"], false);
    report.results[0].series.records[0].perf.instructions = 4000;
    check = toJson(report)["results"][0]["loop_check"];
    EXPECT_EQ(check["checked"], true);
    EXPECT_TRUE(check["because"].is_null());
}

// BR-26: a scenario that was not asked for is named.
TEST(ReportJsonTest, ListsWhatWasLeftOut) {
    Report report = sampleReport();
    report.leftOut = {"mpsc-64B"};
    EXPECT_EQ(toJson(report)["run"]["left_out_scenarios"], std::vector<std::string>{"mpsc-64B"});
}

TEST(ReportJsonTest, WritesComparisons) {
    const auto comparison = toJson(sampleReport())["comparisons"][0];
    EXPECT_EQ(comparison["scenario"], "spsc-64B");
    EXPECT_EQ(comparison["subject"], "sluice/SpscRing");
    EXPECT_EQ(comparison["baseline"], "boost/spsc_queue");
    EXPECT_EQ(comparison["ratio"], 0.25);
}

TEST(ReportJsonTest, SurvivesAReportWithoutResults) {
    EXPECT_TRUE(toJson(Report{})["results"].empty());
}

TEST(ReportJsonTest, WritesTargetsAndWhetherTheyWereMet) {
    Report report = sampleReport();
    report.verdicts = {{{"pair-64B", "ours", "theirs", 0.35}, 0.3, {0.29, 0.31}}};
    const auto target = toJson(report)["targets"][0];
    EXPECT_EQ(target["scenario"], "pair-64B");
    EXPECT_EQ(target["at_most"], 0.35);
    EXPECT_EQ(target["ratio"], 0.3);
    EXPECT_EQ(target["met"], true);
    EXPECT_EQ(target["missed"], false);
}

TEST(ReportJsonTest, WritesMemoryInMebibytesAndNoClock) {
    Report report = sampleReport();
    Scenario scenario = throughputScenario();
    scenario.kind = Kind::residentMemory;
    Series series;
    series.roundNs = {3};
    report.results = {makeResult(scenario, "a", RoundPlan{}, series, quietMachine(), Conditions{})};
    const auto result = toJson(report)["results"][0];
    EXPECT_EQ(result["kind"], "resident-memory");
    EXPECT_EQ(result["stats"]["median_mib"], 3);
    EXPECT_EQ(result["rounds_mib"][0], 3);
    EXPECT_FALSE(result.contains("rounds_ns"));
    EXPECT_TRUE(result["params"].contains("live_blocks"));
}

TEST(ReportJsonTest, WritesRecordsPerSecondOfALogAndLinesThatGoBackInTime) {
    Report report = sampleReport();
    Scenario scenario = throughputScenario();
    scenario.suite = "log";
    scenario.kind = Kind::logThroughput;
    Series series;
    series.roundNs = {100};
    series.counts.backInTime = 7;
    RoundPlan plan;
    plan.placement.producerCpus = {0, 1};
    plan.capacity = 8192;
    report.results = {makeResult(scenario, "a", plan, series, quietMachine(), Conditions{})};
    const auto result = toJson(report)["results"][0];
    EXPECT_EQ(result["per_second"]["unit"], "record/s");
    EXPECT_EQ(result["per_second"]["value"], 1e7);
    EXPECT_EQ(result["counts"]["back_in_time"], 7);
    EXPECT_EQ(result["params"]["producers"], 2);
    EXPECT_EQ(result["params"]["capacity"], 8192);
}

}  // namespace
}  // namespace sluice::bench
