// Reports in text and JSON, and the questions that make one credible.

#include "harness/report/checklist.hpp"
#include "harness/report/report_json.hpp"
#include "harness/report/report_text.hpp"
#include "harness/report/series_json.hpp"
#include "sample_report.hpp"

#include "support/testing.hpp"

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

TEST(ReportTextTest, RanksNothingWithFewerThanSixRounds) {
    Report report = ofRounds(5);
    std::swap(report.results.front(), report.results.back());
    const std::string table = tableOf(report);
    EXPECT_EQ(table.find("fastest"), std::string::npos);
    EXPECT_NE(table.find("no ranking: 5 rounds, 6 are needed\n"), std::string::npos);
    EXPECT_LT(table.find("\n  other/queue "), table.find("\n  sluice/SpscRing "))
        << "rows keep the order of the suite";
}

TEST(ReportJsonTest, SaysWhetherItIsCredibleAndWhyNot) {
    const auto json = toJson(sampleReport());
    EXPECT_EQ(json["checklist"].size(), 7U);
    EXPECT_EQ(json["credible"], false);
    EXPECT_FALSE(json["not_credible_because"].empty());
    EXPECT_EQ(json["run"]["publishable"], true);
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
        {"flags_uniform",
         [](Report& report) {
             report.subjects[0].prebuilt = true;
             report.subjects[0].version.clear();
         }},
        {"p99_and_stddev_reported", [](Report& report) { report.results[0].stats.samples = 1; }},
    };
    for (const auto& [id, fault] : faults) {
        Report report = crediblyMeasured();
        fault(report);
        EXPECT_FALSE(passes(report, id)) << id;
    }
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

}  // namespace
}  // namespace sluice::bench
