#include "hostwatch/figures.hpp"

#include "headers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

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

TEST_F(FiguresTest, KeepsMemory) {
    add(MemorySample{1000, 400, 300, 50, 20});
    EXPECT_EQ(figures_->memory().totalBytes, 1000U);
    EXPECT_DOUBLE_EQ(figures_->memoryUsed().summary(start)->last, 400);
    EXPECT_DOUBLE_EQ(figures_->memoryCached().summary(start)->last, 300);
    EXPECT_DOUBLE_EQ(figures_->swapUsed().summary(start)->last, 20);
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

}  // namespace
}  // namespace hostwatch
