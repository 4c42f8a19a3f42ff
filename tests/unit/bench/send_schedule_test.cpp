// BX-1: latency counts from send times that were fixed in advance, at a constant interval or as a
// Poisson process.

#include "harness/run/send_schedule.hpp"

#include "faulty_queue.hpp"
#include "harness/run/loaded_latency.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice::bench {
namespace {

TEST(SendScheduleTest, DoesNotDriftWithTheNumberOfMessages) {
    const SendSchedule schedule{1000, 12.5, nullptr};
    EXPECT_EQ(schedule.intended(0), 1000);
    EXPECT_EQ(schedule.intended(2), 1025);
    EXPECT_EQ(schedule.intended(80000000), 1000001000);
}

TEST(SendScheduleTest, KeepsItsRateWithPoissonArrivals) {
    const PoissonMoments moments(1);
    const SendSchedule schedule{1000, 12.5, &moments};
    EXPECT_EQ(schedule.intended(0), 1000);
    const std::uint64_t many = 20000 * PoissonMoments::gaps;
    EXPECT_EQ(schedule.intended(many), 1000 + Nanoseconds(12.5 * double(many)));
    EXPECT_NE(schedule.intended(1), 1012);
}

std::vector<double> gapsOf(std::uint64_t seed) {
    const PoissonMoments moments(seed);
    std::vector<double> gaps;
    for (std::uint64_t i = 0; i < PoissonMoments::gaps; ++i) {
        gaps.push_back(moments[i + 1] - moments[i]);
    }
    return gaps;
}

// The largest distance between the distribution of the gaps and the exponential one
// (Kolmogorov-Smirnov); 4096 values from there exceed 0.0255 once in a hundred times.
TEST(PoissonMomentsTest, HasExponentialGaps) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        std::vector<double> gaps = gapsOf(seed);
        std::sort(gaps.begin(), gaps.end());
        EXPECT_GE(gaps.front(), 0);
        double farthest = 0;
        for (std::size_t i = 0; i < gaps.size(); ++i) {
            const double expected = -std::expm1(-gaps[i]);
            farthest = std::max(farthest, std::abs(double(i) / double(gaps.size()) - expected));
        }
        EXPECT_LT(farthest, 0.0255);
    }
}

TEST(PoissonMomentsTest, HasGapsThatDoNotDependOnTheOneBefore) {
    const std::vector<double> gaps = gapsOf(1);
    double product = 0;
    for (std::size_t i = 1; i < gaps.size(); ++i) {
        product += (gaps[i - 1] - 1) * (gaps[i] - 1);
    }
    // Independent gaps have a correlation below 3 / sqrt(4096), except three in a thousand.
    EXPECT_LT(std::abs(product / double(gaps.size())), 3.0 / 64);
}

TEST(PoissonMomentsTest, IsTheSameForTheSameSeedAndNoOther) {
    EXPECT_EQ(gapsOf(7), gapsOf(7));
    EXPECT_NE(gapsOf(7), gapsOf(8));
}

Round roundWith(ArrivalProcess arrivals) {
    RoundPlan plan = openLoopPlan();
    plan.probeStride = 1000;
    plan.arrivals = arrivals;
    return onAThread([&] {
        return loadedLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced, FakeClock>(plan);
    });
}

// The clock moves 10 ns at each look: gaps that are shorter cannot be kept, and only random ones
// are. Of a mean of 1000 ns one in a hundred is; half of those end before the next look.
TEST(LoadedLatencyRoundTest, SendsAsTheScheduleSays) {
    const Round constant = roundWith(ArrivalProcess::constant);
    const Round random = roundWith(ArrivalProcess::poisson);
    EXPECT_EQ(constant.error, "");
    EXPECT_EQ(random.error, "");
    EXPECT_EQ(random.samples.size(), 20U);
    EXPECT_EQ(constant.lateSends, 0U);
    EXPECT_GT(random.lateSends, 20U);
}

}  // namespace
}  // namespace sluice::bench
