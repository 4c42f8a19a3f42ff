// BR-28: the machine answers the seven questions. Each is seen to be answered with no.

#include "harness/report/checklist.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sluice::bench {
namespace {

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

TEST(ChecklistTest, HasSevenQuestionsThatAGoodReportPasses) {
    const Report report = crediblyMeasured();
    EXPECT_EQ(checklistOf(report).size(), 7U);
    for (const CheckItem& item : checklistOf(report)) {
        EXPECT_TRUE(item.pass) << item.id;
        EXPECT_FALSE(item.detail.empty()) << item.id;
    }
    EXPECT_EQ(notCredibleBecause(report), std::vector<std::string>{});
}

TEST(ChecklistTest, AsksWhatASubjectPromises) {
    Report report = crediblyMeasured();
    report.subjects[0].features.topology.clear();
    EXPECT_FALSE(passes(report, "features_aligned"));
    report = crediblyMeasured();
    report.subjects[0].features.order.clear();
    EXPECT_FALSE(passes(report, "features_aligned"));
    report.subjects[0].features.topology = "one thread";
    EXPECT_TRUE(passes(report, "features_aligned"));
}

TEST(ChecklistTest, AsksWhetherRefusalsCount) {
    Report report = crediblyMeasured();
    report.results[0].series.counts.accepted = 11;
    EXPECT_FALSE(passes(report, "overflow_controlled"));
    report = crediblyMeasured();
    report.results[0].flags = {"REJECTED_IN_RAW"};
    EXPECT_FALSE(passes(report, "overflow_controlled"));
    report = crediblyMeasured();
    report.comparisons[0].kind = Kind::overflow;
    EXPECT_FALSE(passes(report, "overflow_controlled"));
}

TEST(ChecklistTest, AsksWhatTheClockCosts) {
    Report report = crediblyMeasured();
    report.results[0].flags = {"CLOCK_OVERHEAD"};
    EXPECT_FALSE(passes(report, "clock_overhead"));
    report = crediblyMeasured();
    report.environment.clockNs = -1;
    EXPECT_FALSE(passes(report, "clock_overhead"));
    report = crediblyMeasured();
    for (Result& result : report.results) {
        result.scenario.kind = Kind::callLatency;
    }
    EXPECT_FALSE(passes(report, "clock_overhead"));
}

TEST(ChecklistTest, AsksForRoundsAndWarmUps) {
    Report report = crediblyMeasured();
    report.repetition.warmups = 2;
    EXPECT_FALSE(passes(report, "rounds_and_warmups"));
    report = crediblyMeasured();
    report.results[0].series.roundNs.pop_back();
    EXPECT_FALSE(passes(report, "rounds_and_warmups"));
}

TEST(ChecklistTest, AsksWhetherThreadsWerePinned) {
    Report report = crediblyMeasured();
    report.results[0].series.error = "a producer could not be pinned to its CPU";
    EXPECT_FALSE(passes(report, "pinned"));
    report = crediblyMeasured();
    report.unpinned = true;
    EXPECT_FALSE(passes(report, "pinned"));
}

// BR-24: mixed flags, unknown ones, assertions and sanitizers.
TEST(ChecklistTest, AsksForOneSetOfFlags) {
    Report report = crediblyMeasured();
    report.environment.flagSets.push_back({"-O2", 1});
    EXPECT_FALSE(passes(report, "flags_uniform"));
    report.environment.flagSets.clear();
    EXPECT_FALSE(passes(report, "flags_uniform"));
    report = crediblyMeasured();
    report.environment.assertions = true;
    EXPECT_FALSE(passes(report, "flags_uniform"));
}

TEST(ChecklistTest, AsksForTheSpread) {
    Report report = crediblyMeasured();
    report.results[0].stats.samples = 1;
    EXPECT_FALSE(passes(report, "p99_and_stddev_reported"));
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

TEST(ChecklistTest, IsPrintedWithItsConclusion) {
    std::ostringstream good;
    printChecklist(good, crediblyMeasured());
    EXPECT_NE(good.str().find("credible: yes\n"), std::string::npos);
    EXPECT_EQ(good.str().find("NO "), std::string::npos);
    Report report = crediblyMeasured();
    report.repetition.rounds = 9;
    std::ostringstream bad;
    printChecklist(bad, report);
    EXPECT_NE(bad.str().find("  NO   Were there"), std::string::npos);
    EXPECT_NE(bad.str().find("credible: no\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::bench
