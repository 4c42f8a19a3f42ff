// What a result is made of: statistics, counts and the flags that spoil it.

#include "harness/report/result.hpp"
#include "harness/run/counts.hpp"
#include "harness/statistics/histogram.hpp"
#include "harness/statistics/statistics.hpp"
#include "sample_report.hpp"

#include "support/testing.hpp"
#include <cmath>
#include <numeric>
#include <random>

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

TEST(ResultTest, FlagsWhatSpoilsIt) {
    EXPECT_EQ(flagsOf(steadySeries()), Flags{});
    EXPECT_EQ(flagsOf(steadySeries(), quietMachine(), true), Flags{"QUICK"});
    using Fault = void (*)(Series&);
    const std::vector<std::pair<Fault, Flags>> faults = {
        {[](Series& series) { series.error = "lost one"; }, {"INVALID"}},
        {[](Series& series) { series.roundNs[0] = 500; }, {"UNRELIABLE"}},
        {[](Series& series) { series.counts.disorder = 1; }, {"REORDERED"}},
        {[](Series& series) { series.counts.backInTime = 1; }, {"BACK_IN_TIME"}},
        {[](Series& series) { series.timedOut = 1; }, {"TIMEOUTS"}},
        {[](Series& series) { series.roundsBehindSchedule = 1; }, {"BEHIND_SCHEDULE"}},
    };
    for (const auto& [fault, flags] : faults) {
        Series series = steadySeries();
        fault(series);
        EXPECT_EQ(flagsOf(series), flags);
    }
}

// The part of the interval that went into reading the clock.
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

// Fewer than ten rounds are marked, and so is every result of a run that was cut short.
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

std::vector<double> oneTo(int last) {
    std::vector<double> values(std::size_t(last), 0.0);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

TEST(StatisticsTest, TakesQuantilesByNearestRank) {
    const std::vector<double> sorted = oneTo(200);
    EXPECT_EQ(quantile(sorted, 0.50), 100);
    EXPECT_EQ(quantile(sorted, 0.95), 190);
    EXPECT_EQ(quantile(sorted, 0.99), 198);
    EXPECT_EQ(quantile(sorted, 0), 1);
    EXPECT_EQ(quantile(sorted, 1), 200);
    EXPECT_EQ(quantile(oneTo(10), 0.99), 10);
}

TEST(StatisticsTest, FindsTheIntervalOfTheMedian) {
    // Of ten values the second and the ninth: 2 * (1 + 10) / 2^10 is 2.1 %; one further inside
    // would leave out 10.9 %.
    const Interval ten = medianInterval({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    EXPECT_EQ(ten.low, 2);
    EXPECT_EQ(ten.high, 9);
    const Interval six = medianInterval({1, 2, 3, 4, 5, 6});
    EXPECT_EQ(six.low, 1);
    EXPECT_EQ(six.high, 6);
}

TEST(StatisticsTest, HasNoIntervalForFewValues) {
    for (const Interval& interval : {medianInterval({}), medianInterval({1, 2, 3, 4, 5})}) {
        EXPECT_EQ(interval.low, 0);
        EXPECT_TRUE(std::isinf(interval.high));
    }
}

TEST(HistogramTest, CountsEveryValueInItsBucket) {
    EXPECT_TRUE(histogramOf({}).empty());
    std::mt19937 random(1);
    std::lognormal_distribution<double> times(6, 3);
    std::vector<double> values;
    for (int i = 0; i < 20000; ++i) {
        values.push_back(times(random));
    }
    std::uint64_t counted = 0;
    double end = 0;
    for (const Bucket& bucket : histogramOf(values)) {
        EXPECT_GE(bucket.from, end);
        end = bucket.to;
        // A percentile is read from the middle of its bucket. Its error is below 1 %.
        EXPECT_LE(bucket.to - bucket.from, bucket.from < 64 ? 1 : bucket.from / 64);
        std::uint64_t inside = 0;
        for (const double value : values) {
            inside += value >= bucket.from && value < bucket.to;
        }
        EXPECT_EQ(bucket.count, inside);
        counted += bucket.count;
    }
    EXPECT_EQ(counted, values.size());
}

Counts balanced() {
    Counts counts;
    counts.planned = 100;
    counts.attempted = 130;
    counts.accepted = 100;
    counts.rejected = 30;
    counts.delivered = 100;
    counts.sentSum = 4950;
    counts.receivedSum = 4950;
    return counts;
}

TEST(CountsTest, NameEachViolatedIdentity) {
    const std::vector<std::tuple<std::uint64_t Counts::*, std::uint64_t, std::string>> faults = {
        {&Counts::attempted, 131, "attempted = accepted + rejected + dropped: 131 is not 130"},
        {&Counts::planned, 101, "accepted = planned: 100 is not 101"},
        {&Counts::delivered, 99, "delivered = accepted: 99 is not 100"},
        {&Counts::receivedSum, 4949, "received checksum = sent checksum: 4949 is not 4950"}};
    for (const auto& [count, value, expected] : faults) {
        Counts counts = balanced();
        counts.*count = value;
        EXPECT_EQ(complaint(counts, true), expected);
    }
}

TEST(CountsTest, ComplainAboutDisorderOnlyWhereOrderIsPromised) {
    Counts counts = balanced();
    counts.disorder = 2;
    EXPECT_EQ(complaint(counts, true), "2 messages broke their producer's order");
    EXPECT_EQ(complaint(counts, false), "");
}

}  // namespace
}  // namespace sluice::bench
