#include "hostwatch/delay_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(DelayHistogram, IsZeroWhenEmpty) {
    const DelayHistogram histogram;
    EXPECT_EQ(histogram.count(), 0U);
    EXPECT_EQ(histogram.max(), 0ns);
    EXPECT_EQ(histogram.percentile(50), 0ns);
    EXPECT_EQ(histogram.percentile(100), 0ns);
}

TEST(DelayHistogram, IsExactBelow64Nanoseconds) {
    DelayHistogram histogram;
    for (int delay = 0; delay < 64; ++delay) {
        histogram.record(nanoseconds(delay));
    }
    EXPECT_EQ(histogram.percentile(0), 0ns);
    EXPECT_EQ(histogram.percentile(50), 31ns);
    EXPECT_EQ(histogram.percentile(75), 47ns);
    EXPECT_EQ(histogram.percentile(100), 63ns);
}

TEST(DelayHistogram, RoundsTheRankUp) {
    DelayHistogram histogram;
    for (const auto delay : {10ns, 20ns, 30ns}) {
        histogram.record(delay);
    }
    EXPECT_EQ(histogram.percentile(33), 10ns);
    EXPECT_EQ(histogram.percentile(34), 20ns);
    EXPECT_EQ(histogram.percentile(50), 20ns);
    EXPECT_EQ(histogram.percentile(67), 30ns);
}

TEST(DelayHistogram, TakesTheExtremes) {
    DelayHistogram histogram;
    histogram.record(nanoseconds::min());
    histogram.record(nanoseconds::max());
    EXPECT_EQ(histogram.percentile(50), 0ns);
    EXPECT_EQ(histogram.percentile(100), nanoseconds::max());
    EXPECT_EQ(histogram.max(), nanoseconds::max());
    EXPECT_EQ(histogram.count(), 2U);
}

/// At every edge of a bucket: never too small, at most 1/32 too large.
TEST(DelayHistogram, StaysWithinItsPromiseForEveryPowerOfTwo) {
    for (int bit = 0; bit < 63; ++bit) {
        for (const int step : {-1, 0, 1}) {
            const nanoseconds delay((std::int64_t{1} << bit) + step);
            DelayHistogram histogram;
            histogram.record(delay);
            histogram.record(nanoseconds::max());  // or the maximum would hide the edge
            EXPECT_GE(histogram.percentile(50), delay);
            EXPECT_LE(histogram.percentile(50) - delay, delay / 32) << delay.count();
        }
    }
}

TEST(DelayHistogram, AgreesWithTheSortedSample) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> distribution(8, 3);
    DelayHistogram histogram;
    std::vector<nanoseconds> sample;
    for (int i = 0; i < 10'000; ++i) {
        sample.emplace_back(static_cast<std::int64_t>(distribution(random)));
        histogram.record(sample.back());
    }
    std::sort(sample.begin(), sample.end());
    for (const unsigned percent : {1U, 25U, 50U, 90U, 99U, 100U}) {
        const nanoseconds exact = sample[sample.size() / 100 * percent - 1];
        EXPECT_GE(histogram.percentile(percent), exact) << percent;
        EXPECT_LE(histogram.percentile(percent) - exact, exact / 32) << percent;
    }
    EXPECT_EQ(histogram.max(), sample.back());
}

TEST(DelayHistogram, MergesIntoWhatOneWouldHaveRecorded) {
    DelayHistogram one;
    DelayHistogram other;
    DelayHistogram both;
    for (int i = 1; i <= 1000; ++i) {
        (i % 3 == 0 ? one : other).record(i * 1us);
        both.record(i * 1us);
    }
    one.merge(other);
    EXPECT_EQ(one.count(), both.count());
    EXPECT_EQ(one.max(), both.max());
    for (const unsigned percent : {0U, 10U, 50U, 99U, 100U}) {
        EXPECT_EQ(one.percentile(percent), both.percentile(percent));
    }
}

}  // namespace
}  // namespace hostwatch
