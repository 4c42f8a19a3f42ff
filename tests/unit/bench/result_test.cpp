#include "harness/result.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

using Flags = std::vector<std::string>;

Flags flagsOf(Series series, const MachineRecord& machine = quietMachine(), bool quick = false) {
    RoundPlan plan;
    plan.placement = placeThreads({0, 1}, 1, Spread::apart);
    return makeResult(throughputScenario(), "a", plan, std::move(series), machine, quick).flags;
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
    series.timedOut = 1;
    series.roundsBehindSchedule = 1;
    EXPECT_EQ(flagsOf(series), (Flags{"TIMEOUTS", "BEHIND_SCHEDULE"}));

    EXPECT_EQ(flagsOf(steadySeries(), quietMachine(), true), Flags{"QUICK"});
}

TEST(ResultTest, FlagsAP99ThatIsOnlyTheMaximum) {
    Series series;
    series.roundNs = {5, 5, 5};
    EXPECT_EQ(flagsOf(series), Flags{"P99_IS_MAX"});
}

TEST(ResultTest, FlagsADisturbedMachine) {
    MachineRecord machine = quietMachine();
    machine.others = 0.3;
    EXPECT_EQ(flagsOf(steadySeries(), machine), Flags{"MACHINE_UNSTEADY"});
    machine = quietMachine();
    machine.lineOneWay = summarize({50, 200});
    EXPECT_EQ(flagsOf(steadySeries(), machine), Flags{"MACHINE_UNSTEADY"});
}

TEST(ResultTest, TakesLatencyStatisticsFromTheSamples) {
    Scenario scenario = throughputScenario();
    scenario.kind = Kind::idleLatency;
    Series series = steadySeries();
    series.samples = {1, 2, 3};
    const Result result = makeResult(scenario, "a", RoundPlan{}, series, quietMachine(), false);
    EXPECT_EQ(result.stats.samples, 3U);
    EXPECT_EQ(result.stats.max, 3);
}

}  // namespace
}  // namespace sluice::bench
