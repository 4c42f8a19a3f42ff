#include "harness/report/result.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

using Flags = std::vector<std::string>;

Flags flagsOf(Series series, const MachineRecord& machine = quietMachine(), bool quick = false) {
    RoundPlan plan;
    plan.placement = placeThreads({0, 1}, 1, Spread::apart);
    return makeResult(throughputScenario(), "a", plan, std::move(series), machine,
                      Conditions{quick, false, -1})
        .flags;
}

Series steadySeries() {
    Series series;
    series.roundNs = std::vector<double>(100, 5.0);
    return series;
}

TEST(ResultTest, HasNoFlagsWhenAllIsWell) {
    EXPECT_EQ(flagsOf(steadySeries()), Flags{});
}

TEST(ResultTest, FlagsWhatSpoilsIt) {
    Series series = steadySeries();
    series.error = "lost one";
    EXPECT_EQ(flagsOf(series), Flags{"INVALID"});

    series = steadySeries();
    series.roundNs[0] = 500;
    EXPECT_EQ(flagsOf(series), Flags{"UNRELIABLE"});

    series = steadySeries();
    series.counts.disorder = 1;
    EXPECT_EQ(flagsOf(series), Flags{"REORDERED"});

    series = steadySeries();
    series.counts.backInTime = 1;
    EXPECT_EQ(flagsOf(series), Flags{"BACK_IN_TIME"});

    series = steadySeries();
    series.timedOut = 1;
    series.roundsBehindSchedule = 1;
    EXPECT_EQ(flagsOf(series), (Flags{"TIMEOUTS", "BEHIND_SCHEDULE"}));

    EXPECT_EQ(flagsOf(steadySeries(), quietMachine(), true), Flags{"QUICK"});
}

TEST(ResultTest, FlagsAP99ThatIsOnlyTheMaximum) {
    Series series;
    series.roundNs = {5, 5, 5};
    EXPECT_EQ(flagsOf(series, quietMachine(), true), (Flags{"QUICK", "P99_IS_MAX"}));
}

TEST(ResultTest, FlagsADisturbedMachine) {
    MachineRecord machine = quietMachine();
    machine.others = 0.3;
    EXPECT_EQ(flagsOf(steadySeries(), machine), Flags{"MACHINE_UNSTEADY"});
    machine = quietMachine();
    machine.lineOneWay = summarize({50, 200});
    EXPECT_EQ(flagsOf(steadySeries(), machine), Flags{"MACHINE_UNSTEADY"});
}

// BR-12: the part of the interval that went into reading the clock.
Series timedSeries(double intervalNs) {
    Series series = steadySeries();
    RoundRecord record;
    record.timedNs = intervalNs;
    record.clockReads = 2;
    series.records = {record};
    return series;
}

TEST(ResultTest, FlagsAClockThatCostsOneInAHundred) {
    EXPECT_EQ(flagsOf(timedSeries(5001)), Flags{});
    EXPECT_EQ(flagsOf(timedSeries(4999)), Flags{"CLOCK_OVERHEAD"});
    EXPECT_EQ(flagsOf(timedSeries(501)), Flags{"CLOCK_OVERHEAD"});
}

TEST(ResultTest, RefusesAClockThatCostsOneInTen) {
    EXPECT_EQ(flagsOf(timedSeries(499)), (Flags{"INVALID", "CLOCK_OVERHEAD"}));
    Series series = timedSeries(100);
    const Result result =
        makeResult(throughputScenario(), "a", RoundPlan{}, series, quietMachine(), Conditions{});
    EXPECT_EQ(result.series.error, "reading the clock took 50 % of a timed interval");
}

TEST(ResultTest, RefusesARoundWithFewerInstructionsThanItsPayloadNeeds) {
    Series series = steadySeries();
    RoundRecord record;
    record.counts.delivered = 1000;
    record.perf.instructions = 3999;
    series.records = {record};
    const auto errorWith = [&series](double floor) {
        Conditions conditions;
        conditions.instructionFloor = floor;
        return makeResult(throughputScenario(), "a", RoundPlan{}, series, quietMachine(),
                          conditions)
            .series.error;
    };
    EXPECT_NE(errorWith(4), "");
    EXPECT_EQ(errorWith(3), "");
    EXPECT_EQ(errorWith(-1), "");
    series.records[0].perf.instructions.reset();
    EXPECT_EQ(errorWith(4), "");
}

// BR-15: fewer than ten rounds are marked, and so is every result of a run that was cut short.
TEST(ResultTest, FlagsTooFewRoundsAndAnInterruptedRun) {
    Series series;
    series.roundNs = std::vector<double>(9, 5.0);
    EXPECT_EQ(flagsOf(series), (Flags{"TOO_FEW_ROUNDS", "P99_IS_MAX"}));
    Conditions conditions;
    conditions.interrupted = true;
    EXPECT_EQ(makeResult(throughputScenario(), "a", RoundPlan{}, steadySeries(), quietMachine(),
                         conditions)
                  .flags,
              Flags{"INTERRUPTED"});
}

TEST(ResultTest, IsPublishableWithEnoughRoundsToTheEnd) {
    Report report;
    EXPECT_TRUE(isPublishable(report));
    report.repetition.rounds = 9;
    EXPECT_FALSE(isPublishable(report));
    report = {};
    report.repetition.warmups = 2;
    EXPECT_FALSE(isPublishable(report));
    report = {};
    report.quick = true;
    EXPECT_FALSE(isPublishable(report));
    report = {};
    report.wasInterrupted = true;
    EXPECT_FALSE(isPublishable(report));
}

// BR-22: a result without pins stands apart, and says so.
TEST(ResultTest, MarksWhatRanWithoutPins) {
    Result result = resultOf("a", {1, 2, 3});
    EXPECT_FALSE(hasFlag(result, "UNPINNED"));
    EXPECT_EQ(result.scenario.section, "");
    result.plan.placement.roaming = {0, 1};
    result =
        makeResult(result.scenario, "a", result.plan, result.series, quietMachine(), Conditions{});
    EXPECT_TRUE(hasFlag(result, "UNPINNED"));
    EXPECT_EQ(result.scenario.section, unpinnedSection);
}

// BR-18: an unreliable result names the disturbances of its slow rounds.
TEST(ResultTest, NamesWhatMayHaveDisturbedIt) {
    Series series;
    for (const double ns : {5.0, 5.0, 5.0, 50.0}) {
        RoundRecord record;
        record.ns = ns;
        record.usage.involuntarySwitches = ns > 5 ? 3 : 1;
        record.perf.migrations = 1;
        series.records.push_back(record);
        series.roundNs.push_back(ns);
    }
    const Result result =
        makeResult(throughputScenario(), "a", RoundPlan{}, series, quietMachine(), Conditions{});
    // Migrations: as many as in any other round.
    const std::vector<std::string> expected = {
        "3.0 involuntary context switches in a slow round, 1.0 in another"};
    EXPECT_EQ(result.suspects, expected);
    EXPECT_TRUE(makeResult(throughputScenario(), "a", RoundPlan{}, steadySeries(), quietMachine(),
                           Conditions{})
                    .suspects.empty());
}

// A single call takes about as long as reading the clock.
TEST(ResultTest, RanksNeitherDemonstrationsNorRatesOfTheirOwnNorTheClock) {
    EXPECT_TRUE(isRanked(Kind::throughput));
    EXPECT_TRUE(isRanked(Kind::idleLatency));
    EXPECT_FALSE(isRanked(Kind::overflow));
    EXPECT_FALSE(isRanked(Kind::loadedLatency));
    EXPECT_FALSE(isRanked(Kind::callLatency));
}

// BR-6: the rate of a result comes from its time for one accepted or delivered message.
TEST(ResultTest, CountsPerSecondWhatArrived) {
    EXPECT_DOUBLE_EQ(perSecond(resultOf("a", {10, 10})), 1e8);
    Result latency = resultOf("a", {10, 10});
    latency.scenario.kind = Kind::idleLatency;
    EXPECT_EQ(perSecond(latency), 0);
    EXPECT_EQ(perSecond(invalidResult("a")), 0);
}

TEST(ResultTest, TakesLatencyStatisticsFromTheSamples) {
    Scenario scenario = throughputScenario();
    scenario.kind = Kind::idleLatency;
    Series series = steadySeries();
    series.samples = {1, 2, 3};
    const Result result =
        makeResult(scenario, "a", RoundPlan{}, series, quietMachine(), Conditions{});
    EXPECT_EQ(result.stats.samples, 3U);
    EXPECT_EQ(result.stats.max, 3);
}

}  // namespace
}  // namespace sluice::bench
