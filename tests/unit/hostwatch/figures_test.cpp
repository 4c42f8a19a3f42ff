// Figures of the last seconds, loads with their alarms, and delays.

#include "headers.hpp"
#include "hostwatch/delay_histogram.hpp"
#include "hostwatch/figures.hpp"
#include "hostwatch/load.hpp"
#include "hostwatch/rolling_figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{1000s};

DeviceName named(const std::string& name) {
    return DeviceName(sluice::truncateToFit, name);
}

class FiguresTest : public ::testing::Test {
protected:
    template <class Message>
    void add(const Message& message, Clock::duration after = 0s, std::uint32_t sender = 0) {
        figures_->add(message, test::headerAt(start + after, sender));
    }
    template <class Message>
    void addFrom(Source source, const Message& message) {
        add(message, 0s, static_cast<std::uint32_t>(indexOf(source)));
    }

    std::unique_ptr<Figures> figures_ = std::make_unique<Figures>();
};

TEST_F(FiguresTest, KeepsEachCore) {
    add(CpuSample{3, 60});
    add(CpuSample{0, 10});
    add(CpuSample{3, 80});
    ASSERT_EQ(figures_->cores().size(), 2U);
    EXPECT_EQ(figures_->cores()[0].id, 3);
    EXPECT_DOUBLE_EQ(figures_->cores()[0].busyPercent.summary(start)->mean, 70);
}

TEST_F(FiguresTest, KeepsWhatTheSamplesOfASourceComeTo) {
    addFrom(Source::disk, Aggregate{"sda", 10, 40});
    addFrom(Source::disk, Aggregate{"sdb", 30, 60});
    addFrom(Source::cpu, Aggregate{{}, 5, 7});
    const LoadFigures& disks = figures_->load(Source::disk);
    EXPECT_EQ(disks.busiest.view(), "sdb");
    EXPECT_DOUBLE_EQ(disks.mean.summary(start)->mean, 20);
    EXPECT_DOUBLE_EQ(disks.max.summary(start)->last, 60);
    EXPECT_DOUBLE_EQ(figures_->load(Source::cpu).max.summary(start)->last, 7);
    EXPECT_FALSE(figures_->load(Source::memory).mean.summary(start));
}

TEST_F(FiguresTest, KeepsAnAlarmWhileItIsOn) {
    addFrom(Source::disk, Alarm{"sda", true});
    addFrom(Source::cpu, Alarm{{}, true});
    add(Alarm{}, 0s, drillSender);
    ASSERT_TRUE(figures_->alarm(Source::disk));
    EXPECT_EQ(figures_->alarm(Source::disk)->device.view(), "sda");
    addFrom(Source::disk, Alarm{});
    EXPECT_FALSE(figures_->alarm(Source::disk));
    EXPECT_TRUE(figures_->alarm(Source::cpu));
}

TEST_F(FiguresTest, KeepsEachDeviceByName) {
    add(DiskSample{"sda", 1, 2, 3});
    add(DiskSample{"sdb", 10, 20, 30});
    add(NetworkSample{"eth0", 5, 6});
    ASSERT_EQ(figures_->disks().size(), 2U);
    EXPECT_DOUBLE_EQ(figures_->disks()[1].readBytesPerSecond.summary(start)->last, 10);
    EXPECT_DOUBLE_EQ(figures_->disks()[1].writtenBytesPerSecond.summary(start)->last, 20);
    EXPECT_DOUBLE_EQ(figures_->disks()[1].busyPercent.summary(start)->last, 30);
    ASSERT_EQ(figures_->interfaces().size(), 1U);
    EXPECT_DOUBLE_EQ(figures_->interfaces()[0].receivedBytesPerSecond.summary(start)->last, 5);
    EXPECT_DOUBLE_EQ(figures_->interfaces()[0].sentBytesPerSecond.summary(start)->last, 6);
}

TEST_F(FiguresTest, ForgetsASilentDevice) {
    add(DiskSample{"sda", 1, 1, 1});
    add(DiskSample{"sdb", 2, 2, 2}, 5s);
    add(DiskSample{"sdc", 3, 3, 3});
    figures_->forgetSilent(start + 5s);
    EXPECT_EQ(figures_->disks().size(), 3U);
    figures_->forgetSilent(start + 11s);
    ASSERT_EQ(figures_->disks().size(), 1U);
    EXPECT_EQ(figures_->disks()[0].id.view(), "sdb");
}

TEST_F(FiguresTest, CountsSamplesForWhichThereIsNoPlace) {
    for (std::size_t i = 0; i < Figures::mostDevices + 3; ++i) {
        add(NetworkSample{named("eth" + std::to_string(i)), 1, 1});
    }
    EXPECT_EQ(figures_->interfaces().size(), Figures::mostDevices);
    EXPECT_EQ(figures_->samplesLeftOut(), 3U);
    add(NetworkSample{"eth0", 1, 1});
    EXPECT_EQ(figures_->samplesLeftOut(), 3U) << "a known device is not left out";

    figures_->forgetSilent(start + 20s);
    add(NetworkSample{"wlan0", 1, 1}, 20s);
    EXPECT_EQ(figures_->interfaces().size(), 1U) << "places are given back";
}

TEST_F(FiguresTest, KeepsMemory) {
    add(MemorySample{1000, 400, 300, 50, 20});
    EXPECT_EQ(figures_->memory().totalBytes, 1000U);
    EXPECT_DOUBLE_EQ(figures_->memoryUsed().summary(start)->last, 400);
    EXPECT_DOUBLE_EQ(figures_->memoryCached().summary(start)->last, 300);
    EXPECT_DOUBLE_EQ(figures_->swapUsed().summary(start)->last, 20);
}

TEST(RollingFigure, SumsUpTheValuesInTheWindow) {
    RollingFigure figure;
    figure.add(4, start);
    figure.add(-2, start + 1s);
    figure.add(7, start + 1s + 1ms);
    const auto summary = figure.summary(start + 2s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->last, 7);
    EXPECT_DOUBLE_EQ(summary->min, -2);
    EXPECT_DOUBLE_EQ(summary->mean, 3);
    EXPECT_DOUBLE_EQ(summary->max, 7);
}

TEST(RollingFigure, ForgetsWhatIsOlderThanTheWindow) {
    RollingFigure figure;
    figure.add(100, start);
    figure.add(1, start + 5s);
    EXPECT_DOUBLE_EQ(figure.summary(start + 9s + 999ms)->max, 100);
    EXPECT_DOUBLE_EQ(figure.summary(start + 10s)->max, 1);
    EXPECT_TRUE(figure.summary(start + 14s + 999ms));
    EXPECT_FALSE(figure.summary(start + 15s));
}

TEST(RollingFigure, UsesASlotAgainAfterAWholeRound) {
    RollingFigure figure;
    EXPECT_FALSE(figure.summary(start));
    figure.add(100, start);
    figure.add(3, start + 10s);
    const auto summary = figure.summary(start + 10s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->max, 3);
    EXPECT_DOUBLE_EQ(summary->mean, 3);
}

TEST(RollingFigure, IgnoresAValueThatIsLateByAWholeWindow) {
    RollingFigure figure;
    figure.add(3, start + 10s);
    figure.add(100, start);
    const auto summary = figure.summary(start + 10s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->max, 3);
    EXPECT_DOUBLE_EQ(summary->last, 3);
}

TEST(AggregateOf, IsTheMeanTheMostAndTheBusiestOne) {
    const auto disks = aggregateOf(
        std::vector<DiskSample>{{"sda", 0, 0, 20}, {"sdb", 0, 0, 60}, {"sdc", 0, 0, 10}});
    EXPECT_EQ(disks.busiest.view(), "sdb");
    EXPECT_DOUBLE_EQ(disks.mean, 30);
    EXPECT_DOUBLE_EQ(disks.max, 60);
    const auto interfaces =
        aggregateOf(std::vector<NetworkSample>{{"eth0", 100, 20}, {"lo", 1, 1}});
    EXPECT_EQ(interfaces.busiest.view(), "eth0");
    EXPECT_DOUBLE_EQ(interfaces.max, 120) << "both ways";
}

TEST(AggregateOf, HasNoNameWhereDevicesHaveNone) {
    const auto cores = aggregateOf(std::vector<CpuSample>{{0, 50}, {1, 100}});
    EXPECT_TRUE(cores.busiest.empty());
    EXPECT_DOUBLE_EQ(cores.mean, 75);
    const auto memory = aggregateOf(std::vector<MemorySample>{{200, 50, 0, 0, 0}});
    EXPECT_DOUBLE_EQ(memory.mean, 25);
    EXPECT_DOUBLE_EQ(aggregateOf(std::vector<MemorySample>{{}}).mean, 0) << "nothing of nothing";
}

TEST(AlarmWatch, RingsOnceForEachCrossing) {
    AlarmWatch<CpuSample> watch;
    std::vector<bool> rung;
    for (const double mean : {50.0, 90.0, 90.1, 95.0, 85.0, 91.0, 80.0, 79.9, 85.0, 99.0}) {
        if (const auto alarm = watch.look({{}, mean, 100})) {
            rung.push_back(alarm->isOn);
            watch.told(*alarm);
        }
    }
    EXPECT_EQ(rung, (std::vector<bool>{true, false, true}));
}

TEST(AlarmWatch, RingsAgainUntilItHasBeenTold) {
    AlarmWatch<MemorySample> watch;
    EXPECT_TRUE(watch.look({{}, 95, 95}));
    EXPECT_TRUE(watch.look({{}, 95, 95}));
    EXPECT_FALSE(watch.look({{}, 50, 50})) << "nobody knows that it was on";
}

TEST(AlarmWatch, LooksAtTheBusiestDiskAndAtAllCores) {
    EXPECT_FALSE(AlarmWatch<CpuSample>().look({{}, 50, 100}));
    const auto alarm = AlarmWatch<DiskSample>().look({"sda", 50, 100});
    ASSERT_TRUE(alarm);
    EXPECT_EQ(alarm->device.view(), "sda");
    EXPECT_FALSE(AlarmWatch<NetworkSample>().look({"eth0", 1e9, 1e9})) << "its limit is not known";
}

using std::chrono::nanoseconds;

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

}  // namespace
}  // namespace hostwatch
