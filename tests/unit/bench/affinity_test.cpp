#include "harness/machine/affinity.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <thread>

namespace sluice::bench {
namespace {

using Cpus = std::vector<int>;

TEST(PlacementTest, GivesOneProducerACpuOfItsOwn) {
    for (const Spread spread : {Spread::apart, Spread::everywhere}) {
        const Placement placement = placeThreads({4, 6}, 1, spread);
        EXPECT_EQ(placement.consumerCpu, 6);
        EXPECT_EQ(placement.producerCpus, Cpus{4});
        EXPECT_FALSE(placement.oversubscribed);
    }
}

TEST(PlacementTest, KeepsProducersOffTheConsumersCpuWhenApart) {
    const Placement placement = placeThreads({0, 1}, 4, Spread::apart);
    EXPECT_EQ(placement.producerCpus, (Cpus{0, 0, 0, 0}));
    EXPECT_TRUE(placement.oversubscribed);
}

TEST(PlacementTest, UsesEveryCpuWhenTold) {
    const Placement placement = placeThreads({0, 1}, 4, Spread::everywhere);
    EXPECT_EQ(placement.producerCpus, (Cpus{0, 1, 0, 1}));
    EXPECT_TRUE(placement.oversubscribed);
}

TEST(PlacementTest, IsNotOversubscribedWhereThereAreEnoughCpus) {
    const Placement placement = placeThreads({0, 1, 2, 3, 4}, 4, Spread::apart);
    EXPECT_EQ(placement.producerCpus, (Cpus{0, 2, 3, 4}));
    EXPECT_FALSE(placement.oversubscribed);
}

TEST(AffinityTest, PinsAThreadToAnAllowedCpu) {
    const Cpus cpus = allowedCpus();
    ASSERT_FALSE(cpus.empty());
    std::thread([&] {
        EXPECT_TRUE(pinThisThread(cpus.back()));
        EXPECT_EQ(sched_getcpu(), cpus.back());
    }).join();
}

// BR-22: a thread that the placement lets roam may use all CPUs again, after any round.
TEST(AffinityTest, LetsAThreadRoamWhereThePlacementSaysSo) {
    const Cpus cpus = allowedCpus();
    Placement placement;
    std::thread([&] {
        EXPECT_TRUE(takePlace(placement, cpus.back()));
        EXPECT_EQ(allowedCpus(), Cpus{cpus.back()});
        placement.roaming = cpus;
        EXPECT_TRUE(takePlace(placement, cpus.back()));
        EXPECT_EQ(allowedCpus(), cpus);
    }).join();
}

TEST(AffinityTest, SaysWhenACpuIsRefused) {
    std::thread([] { EXPECT_FALSE(pinThisThread(CPU_SETSIZE - 1)); }).join();
}

}  // namespace
}  // namespace sluice::bench
