// Reports in text and JSON, and the questions that make one credible.

#include "harness/report/checklist.hpp"
#include "harness/report/report_json.hpp"
#include "harness/report/report_text.hpp"
#include "harness/report/scaling.hpp"
#include "harness/report/series_json.hpp"
#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <utility>

namespace sluice::bench {
namespace {

std::string tableOf(const Report& report) {
    std::ostringstream out;
    printScenario(out, report.results, report.comparisons, report.machine.front(), peerColumns());
    return out.str();
}

// Six rounds each, unless told otherwise.
Report ofRounds(std::size_t rounds = fewestToRank) {
    Report report = sampleReport();
    double ns = 10;
    for (Result& result : report.results) {
        result = resultOf(result.subject, std::vector<double>(rounds, ns *= 2));
    }
    report.results.front().subject = "sluice/SpscRing";
    report.comparisons = compareWithPeers(report.results, report.subjects);
    return report;
}

TEST(ReportTextTest, NamesTheFastestWhoeverItIs) {
    Report report = ofRounds();
    EXPECT_NE(tableOf(report).find("fastest: sluice/SpscRing\n"), std::string::npos);
    report.results[2] = resultOf("boost/spsc_queue/paced", std::vector<double>(6, 1));
    EXPECT_NE(tableOf(report).find("fastest: boost/spsc_queue/paced\n"), std::string::npos);
}

TEST(ReportTextTest, RanksNothingWithFewerThanSixRounds) {
    Report report = ofRounds(5);
    std::swap(report.results.front(), report.results.back());
    const std::string table = tableOf(report);
    EXPECT_EQ(table.find("fastest"), std::string::npos);
    EXPECT_NE(table.find("no ranking: 5 rounds, 6 are needed\n"), std::string::npos);
    EXPECT_LT(table.find("\n  other/queue "), table.find("\n  sluice/SpscRing "))
        << "rows keep the order of the suite";
}

TEST(ReportTextTest, SaysHowManyRoundsWereRun) {
    Report report = ofRounds(6);
    report.repetition.rounds = 6;
    EXPECT_EQ(roundsText(report), "6 rounds");
    report.results.push_back(resultOf("sluice/SpscRing", {1}));
    report.results.back().scenario.name = "another";
    EXPECT_EQ(roundsText(report), "1 to 6 rounds, 6 planned");
}

TEST(ReportTextTest, SaysInHowManyScenariosTheMachineWasNotSteady) {
    std::ostringstream out;
    printUnsteady(out, {quietMachine()});
    EXPECT_EQ(out.str(), "");
    MachineRecord stolen = quietMachine();
    stolen.stolen = 0.1;
    printUnsteady(out, {quietMachine(), stolen});
    EXPECT_EQ(out.str().find("the machine was not steady in 1 of 2 scenarios: "), 0U);
    EXPECT_NE(out.str().find("--until-quiet 60"), std::string::npos);
}

TEST(ReportTextTest, NamesNoBaselineWhereRowsHaveDifferentOnes) {
    Report report = sampleReport();
    report.comparisons.push_back(report.comparisons.front());
    report.comparisons.back().baseline = "other/queue";
    EXPECT_NE(tableOf(report).find("to the best peer as documented, each row to another one\n"),
              std::string::npos);
}

TEST(ReportTextTest, ShowsAnInvalidResultInsteadOfItsTime) {
    Report report = sampleReport();
    report.results[0] = invalidResult("sluice/SpscRing");
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("INVALID: delivered = accepted: 9 is not 10"), std::string::npos);
    EXPECT_EQ(table.find("fastest: sluice/SpscRing"), std::string::npos);
}

TEST(ReportTextTest, SaysWhenTheMachineWasDisturbed) {
    Report report = sampleReport();
    EXPECT_EQ(tableOf(report).find("UNSTEADY"), std::string::npos);
    report.machine.front().others = 0.4;
    EXPECT_NE(tableOf(report).find("others had 40.0 %"), std::string::npos);
    EXPECT_EQ(tableOf(report).find("\nUNSTEADY"), 0U);
    EXPECT_LT(tableOf(report).find("--until-quiet 60"), tableOf(report).find("ns median"));
}

TEST(ReportTextTest, ListsAbsentSubjects) {
    std::ostringstream out;
    printAbsent(out, sampleReport().subjects);
    EXPECT_EQ(out.str(), "absent: rigtorp/SPSCQueue (not compiled in)\n");
    std::vector<Subject> subjects = sampleReport().subjects;
    subjects.resize(2);
    subjects[0].absentBecause = subjects[1].absentBecause = leftOutByFilter;
    std::ostringstream narrowed;
    printAbsent(narrowed, subjects);
    EXPECT_EQ(narrowed.str(), "left out by --filter: sluice/SpscRing, boost/spsc_queue\n");
}

TEST(ReportTextTest, PrintsLatencyUnderLoadWithTheMachineBesideIt) {
    Report report = sampleReport();
    Series series;
    series.samples = {100, 200, 300};
    series.roundNs = {200};
    series.roundP99 = {300};
    series.roundIntervalNs = {40};
    Scenario scenario = throughputScenario();
    scenario.kind = Kind::loadedLatency;
    report.machine.front().noQueue = summarize({10, 20});
    report.results = {makeResult(scenario, "a/queue", report.results[0].plan, series,
                                 report.machine.front(), Conditions{})};
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("(no queue: the machine alone)"), std::string::npos);
    EXPECT_NE(table.find("a/queue"), std::string::npos);
    EXPECT_EQ(table.find("fastest"), std::string::npos);
}

Result resultOfKind(Kind kind, const std::string& subject, double value) {
    Scenario scenario = throughputScenario();
    scenario.kind = kind;
    Series series;
    series.roundNs.assign(fewestToRank, value);
    series.samples = {value, value + 1};
    RoundPlan plan;
    plan.placement.consumerCpu = 1;
    return makeResult(scenario, subject, plan, series, quietMachine(), Conditions{});
}

TEST(ReportTextTest, PrintsSingleCallsByTheirTails) {
    Report report = sampleReport();
    report.results = {resultOfKind(Kind::callLatency, "slow", 50),
                      resultOfKind(Kind::callLatency, "quick", 10)};
    report.machine.front().noQueue = summarize({7});
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("(no call: the clock alone)"), std::string::npos);
    EXPECT_NE(table.find("p99.9"), std::string::npos);
    EXPECT_NE(table.find("one thread on CPU 1"), std::string::npos);
    EXPECT_LT(table.find("quick"), table.find("slow"));
}

TEST(ReportTextTest, PrintsMemoryInMiB) {
    Report report = sampleReport();
    report.results = {resultOfKind(Kind::residentMemory, "thrifty", 3)};
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("MiB median"), std::string::npos);
    EXPECT_NE(table.find("least: thrifty"), std::string::npos);
}

TEST(ReportTextTest, NeverCallsAFloorTheFastest) {
    Report report = sampleReport();
    report.results = {resultOfKind(Kind::callCost, floorPrefix + "nothing", 1),
                      resultOfKind(Kind::callCost, "something", 2)};
    EXPECT_NE(tableOf(report).find("fastest: something\n"), std::string::npos);
}

TEST(ReportTextTest, SaysOfEachTargetWhetherItWasMet) {
    std::ostringstream out;
    printVerdicts(out, {{{"pair", "ours", "theirs", 0.35}, 0.3, {0.29, 0.31}},
                        {{"pair", "ours", "theirs", 0.25}, 0.3, {0.29, 0.31}},
                        {{"pair", "ours", "theirs", 0.3}, 0.3, {0.29, 0.31}},
                        {{"call", "ours", "", 5}, 4.5, {4, 5}, "median"},
                        {{"load", "ours", "", 5000}, 4500, {4000, 5000}, "p99"}});
    EXPECT_EQ(out.str(), "  target: pair: ours at most 0.35 x theirs: 0.300, met\n"
                         "  target: pair: ours at most 0.25 x theirs: 0.300, MISSED\n"
                         "  target: pair: ours at most 0.30 x theirs: 0.300, undecided\n"
                         "  target: call: ours at most 5.00 ns: 4.500, met\n"
                         "  target: load: ours at most 5000.00 ns at P99: 4500.000, met\n");
}

TEST(ReportTextTest, LeavesColumnsOutThatSayNothing) {
    Report report = sampleReport();
    RatioColumns columns = peerColumns();
    columns.push_back({"best of a kind that is not there", "/ kind"});
    std::ostringstream out;
    printScenario(out, report.results, report.comparisons, report.machine.front(), columns);
    EXPECT_NE(out.str().find("/ paced"), std::string::npos);
    EXPECT_EQ(out.str().find("/ kind"), std::string::npos);
}

TEST(ReportTextTest, ListsEverySubjectFastestFirst) {
    const std::string table = tableOf(ofRounds());
    const std::size_t ours = table.find("\n  sluice/SpscRing ");
    const std::size_t documented = table.find("\n  boost/spsc_queue ");
    const std::size_t slowest = table.find("\n  other/queue ");
    ASSERT_NE(slowest, std::string::npos);
    EXPECT_LT(ours, documented);
    EXPECT_LT(documented, slowest);
}

// All statistics stand together.
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

TEST(ReportJsonTest, WritesAComparisonWhoseIntervalIsTheWholeLineWithNull) {
    const auto comparison = toJson(sampleReport())["comparisons"][0];
    EXPECT_TRUE(comparison["ci_low"].is_null());
    EXPECT_TRUE(comparison["ci_high"].is_null());
    EXPECT_EQ(comparison["verdict"], "undecided");
    EXPECT_EQ(comparison["kind"], "e2e-throughput");
    EXPECT_EQ(comparison["scenario"], "spsc-64B");
    EXPECT_EQ(comparison["subject"], "sluice/SpscRing");
    EXPECT_EQ(comparison["baseline"], "boost/spsc_queue");
    EXPECT_EQ(comparison["ratio"], 0.25);
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

// The record of features is complete. An unknown feature is null and not "no".
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

// The pair of CPUs, and the distances that the machine has and has not.
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

// A run without pins says so, and names no CPU that it cannot know.
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

// The schedule of an open-loop producer is named, and so is the seed of a random one.
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

// A scenario that was not asked for is named.
TEST(ReportJsonTest, ListsWhatWasLeftOut) {
    Report report = sampleReport();
    report.leftOut = {"mpsc-64B"};
    EXPECT_EQ(toJson(report)["run"]["left_out_scenarios"], std::vector<std::string>{"mpsc-64B"});
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

Series oneRound(double ns) {
    Series series;
    RoundRecord record;
    record.ns = ns;
    record.timedNs = 100 * ns;
    record.clockReads = 2;
    record.timedMessages = 100;
    record.counts.accepted = ~std::uint64_t{0};
    record.usage.minorFaults = 3;
    record.perf.migrations = 1;
    record.allocations = 7;
    series.records = {record};
    series.roundNs = {ns};
    series.samples = {ns, 2 * ns};
    series.roundP99 = {2 * ns};
    series.counts = record.counts;
    series.timedOut = 4;
    return series;
}

TEST(SeriesJsonTest, BringsASeriesOverUnchanged) {
    Series failed;
    failed.error = "lost one";
    const auto read = readSeries(writeSeries({{"a", oneRound(1.0 / 3)}, {"b", failed}}));
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].subject, "a");
    const Series& series = read[0].series;
    EXPECT_EQ(series.roundNs, std::vector<double>{1.0 / 3});
    EXPECT_EQ(series.samples.size(), 2U);
    EXPECT_EQ(series.roundP99.size(), 1U);
    EXPECT_EQ(series.timedOut, 4U);
    const RoundRecord& record = series.records.at(0);
    EXPECT_EQ(record.counts.accepted, ~std::uint64_t{0});
    EXPECT_EQ(record.timedMessages, 100U);
    EXPECT_EQ(record.usage.minorFaults, 3U);
    EXPECT_EQ(record.perf.migrations, 1.0);
    EXPECT_FALSE(record.perf.cycles.has_value());
    EXPECT_EQ(record.allocations, 7U);
    EXPECT_EQ(read[1].series.error, "lost one");
}

TEST(SeriesJsonTest, RefusesAnythingElse) {
    EXPECT_THROW((void)readSeries(""), std::runtime_error);
    EXPECT_THROW((void)readSeries("[{}]"), std::runtime_error);
}

TEST(SeriesJsonTest, AppendsTheRoundsOfAFurtherProcess) {
    Series all;
    append(all, oneRound(1), 0);
    append(all, oneRound(2), 1);
    EXPECT_EQ(all.roundNs, (std::vector<double>{1, 2}));
    EXPECT_EQ(all.samples, (std::vector<double>{1, 2, 2, 4}));
    EXPECT_EQ(all.timedOut, 8U);
    EXPECT_EQ(all.records.at(1).process, 1U);
    EXPECT_EQ(all.records.at(1).index, 1U);
    Series failed;
    failed.error = "lost one";
    append(all, failed, 2);
    EXPECT_EQ(all.error, "lost one");
}

Result resultIn(const std::string& scenario, const std::string& subject, double ns) {
    Result result = resultOf(subject, {ns});
    result.scenario.name = scenario;
    return result;
}

TEST(ScalingTest, ShowsWhatIsThereOnOneThreadAndOnTwo) {
    std::ostringstream out;
    const std::vector<Result> results = {resultIn("one", "ours", 5), resultIn("one", "theirs", 20),
                                         resultIn("one", "alone", 1), resultIn("two", "ours", 2.5),
                                         resultIn("two", "theirs", 40)};
    printScaling(out, results, {{"one call", "one", "two"}, {"nothing", "three", "four"}});
    const std::string table = out.str();
    EXPECT_EQ(table.find("scaling: one call"), 0U);
    EXPECT_EQ(table.find("nothing"), std::string::npos);
    EXPECT_EQ(table.find("alone"), std::string::npos);
    EXPECT_NE(table.find("5.00         2.50           2.00\n"), std::string::npos);
    EXPECT_NE(table.find("20.00        40.00           0.50\n"), std::string::npos);
}

Report crediblyMeasured() {
    Report report = sampleReport();
    report.environment.clockNs = 25;
    report.environment.flagSets = {{"-O3", 40}};
    report.environment.assertions = false;
    report.environment.sanitized = false;
    for (Result& result : report.results) {
        Series series;
        series.roundNs = std::vector<double>(10, 5.0);
        result = makeResult(result.scenario, result.subject, result.plan, series, quietMachine(),
                            Conditions{});
    }
    return report;
}

bool passes(const Report& report, const std::string& id) {
    for (const CheckItem& item : checklistOf(report)) {
        if (item.id == id) {
            return item.pass;
        }
    }
    ADD_FAILURE() << "there is no question " << id;
    return false;
}

TEST(ChecklistTest, PassesAGoodReportAndFindsEachFault) {
    const Report good = crediblyMeasured();
    for (const CheckItem& item : checklistOf(good)) {
        EXPECT_TRUE(item.pass) << item.id;
        EXPECT_FALSE(item.detail.empty()) << item.id;
    }
    EXPECT_EQ(notCredibleBecause(good), std::vector<std::string>{});

    using Fault = void (*)(Report&);
    const std::vector<std::pair<const char*, Fault>> faults = {
        {"features_aligned", [](Report& report) { report.subjects[0].features.topology.clear(); }},
        {"features_aligned", [](Report& report) { report.subjects[0].features.order.clear(); }},
        {"overflow_controlled",
         [](Report& report) { report.results[0].series.counts.accepted = 11; }},
        {"overflow_controlled",
         [](Report& report) { report.results[0].flags = {"REJECTED_IN_RAW"}; }},
        {"overflow_controlled",
         [](Report& report) { report.comparisons[0].kind = Kind::overflow; }},
        {"clock_overhead", [](Report& report) { report.results[0].flags = {"CLOCK_OVERHEAD"}; }},
        {"clock_overhead", [](Report& report) { report.environment.clockNs = -1; }},
        {"clock_overhead",
         [](Report& report) {
             for (Result& result : report.results) {
                 result.scenario.kind = Kind::callLatency;
             }
         }},
        {"rounds_and_warmups", [](Report& report) { report.repetition.warmups = 2; }},
        {"rounds_and_warmups", [](Report& report) { report.results[0].series.roundNs.pop_back(); }},
        {"pinned",
         [](Report& report) {
             report.results[0].series.error = "a producer could not be pinned to its CPU";
         }},
        {"pinned", [](Report& report) { report.unpinned = true; }},
        {"flags_uniform",
         [](Report& report) {
             report.environment.flagSets.push_back({"-O2", 1});
         }},
        {"flags_uniform", [](Report& report) { report.environment.flagSets.clear(); }},
        {"flags_uniform", [](Report& report) { report.environment.assertions = true; }},
        {"p99_and_stddev_reported", [](Report& report) { report.results[0].stats.samples = 1; }},
    };
    for (const auto& [id, fault] : faults) {
        Report report = crediblyMeasured();
        fault(report);
        EXPECT_FALSE(passes(report, id)) << id;
    }
}

// What only one thread uses keeps its order by itself.
TEST(ChecklistTest, AsksForNoOrderWhereThereIsOneThread) {
    Report report = crediblyMeasured();
    report.subjects[0].features.order.clear();
    report.subjects[0].features.topology = "one thread";
    EXPECT_TRUE(passes(report, "features_aligned"));
}

TEST(ChecklistTest, SaysWhatElseIsNotForPublication) {
    Report report = crediblyMeasured();
    report.quick = true;
    EXPECT_EQ(notCredibleBecause(report).size(), 1U);
    report = crediblyMeasured();
    report.wasInterrupted = true;
    EXPECT_EQ(notCredibleBecause(report).size(), 1U);
    report = crediblyMeasured();
    report.skipped = {{"spsc-8B", "the time was over"}};
    EXPECT_EQ(notCredibleBecause(report).size(), 1U);
    report = crediblyMeasured();
    report.results[0].flags = {"UNRELIABLE"};
    report.results[1].series.error = "lost one";
    EXPECT_EQ(notCredibleBecause(report).size(), 2U);
    report.results.clear();
    EXPECT_EQ(notCredibleBecause(report).size(), 2U);
    report = crediblyMeasured();
    report.subjects[1].absentBecause = leftOutByFilter;
    report.leftOut = {"spsc-8B", "mpsc-64B"};
    const std::vector<std::string> narrowed = {"1 subject left out by --filter",
                                               "2 scenarios left out by --scenario or --filter"};
    EXPECT_EQ(notCredibleBecause(report), narrowed);
    report = crediblyMeasured();
    report.machine[0].others = 0.5;
    EXPECT_EQ(notCredibleBecause(report),
              std::vector<std::string>{"1 scenario ran while others used the CPUs"});
}

TEST(ChecklistTest, AsksForSteadyFiguresOfWhatIsRanked) {
    Report report = crediblyMeasured();
    report.results[0].flags = {"UNRELIABLE"};
    report.results[0].scenario.kind = Kind::loadedLatency;
    EXPECT_TRUE(notCredibleBecause(report).empty());
    report.results[0].scenario.kind = Kind::throughput;
    report.results[0].plan.placement.oversubscribed = true;
    EXPECT_TRUE(notCredibleBecause(report).empty());
    report.results[0].plan.placement.oversubscribed = false;
    EXPECT_EQ(notCredibleBecause(report).size(), 1U);
}

TEST(ChecklistTest, SaysWhatItHasNotChecked) {
    Report report = crediblyMeasured();
    report.environment.noPerfCounters = "perf_event_open: not to be had";
    std::ostringstream out;
    printChecklist(out, report);
    EXPECT_NE(out.str().find("  not checked: that no loop was optimised away (perf_event_open: "
                             "not to be had)\n"),
              std::string::npos);
    report.environment.noPerfCounters.clear();
    for (Result& result : report.results) {
        result.instructionFloor = 3;
    }
    std::ostringstream checked;
    printChecklist(checked, report);
    EXPECT_EQ(checked.str().find("not checked"), std::string::npos);
}

}  // namespace
}  // namespace sluice::bench
