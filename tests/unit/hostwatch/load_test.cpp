#include "hostwatch/load.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hostwatch {
namespace {

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

}  // namespace
}  // namespace hostwatch
