#include "harness/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <numeric>

namespace sluice::bench {
namespace {

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
}

TEST(StatisticsTest, TakesTheLargestOfTooFewValuesForP99) {
    EXPECT_EQ(quantile(oneTo(10), 0.99), 10);
    EXPECT_EQ(quantile({5.0}, 0.01), 5);
}

TEST(StatisticsTest, TakesTheMedianOfOddAndEvenSamples) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(StatisticsTest, SummarizesASample) {
    const Stats stats = summarize({4, 2, 8, 6});
    EXPECT_EQ(stats.samples, 4U);
    EXPECT_EQ(stats.min, 2);
    EXPECT_EQ(stats.max, 8);
    EXPECT_EQ(stats.mean, 5);
    EXPECT_EQ(stats.median, 5);
    EXPECT_EQ(stats.p50, 4);
    EXPECT_NEAR(stats.stddev, 2.581988897, 1e-9);
    EXPECT_NEAR(stats.cv, 0.516397779, 1e-9);
}

TEST(StatisticsTest, HasNoSpreadWithoutASecondValue) {
    EXPECT_EQ(summarize({7}).stddev, 0);
    EXPECT_EQ(summarize({}).samples, 0U);
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

}  // namespace
}  // namespace sluice::bench
