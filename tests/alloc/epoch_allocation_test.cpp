#include "support/allocation_count.hpp"

#include <sluice/base/epoch.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <thread>

namespace sluice {
namespace {

struct Node : EpochNode {};

TEST(EpochAllocationTest, EnterAllocatesForTheFirstTimeOnly) {
    EpochDomain domain;
    auto reader = domain.reader();
    { const auto guard = domain.enter(); }

    const test::AllocationCount count;
    for (int i = 0; i < 1000; ++i) {
        const auto guard = domain.enter();
        const auto nested = domain.enter();
        const auto other = reader.enter();
        EXPECT_TRUE(domain.isInside());
    }
    domain.synchronize();
    EXPECT_EQ(count.allocations(), 0u);
    EXPECT_EQ(count.deallocations(), 0u);
}

TEST(EpochAllocationTest, RetiringNodesNeverAllocates) {
    EpochDomain domain(EpochOptions{16});
    std::array<Node, 100> nodes;

    const test::AllocationCount count;
    for (int round = 0; round < 10; ++round) {
        for (Node& node : nodes) {
            domain.retire(node, [](EpochNode&) {});
        }
        EXPECT_LT(domain.pendingApprox(), 16u);
        (void)domain.collect();
        EXPECT_EQ(domain.pendingApprox(), 0u);
    }
    EXPECT_EQ(count.allocations(), 0u);
}

TEST(EpochAllocationTest, RetiringPointersAllocatesForTheLargestBacklogOnly) {
    EpochDomain domain(EpochOptions{0});
    int object = 0;
    const auto retireMany = [&] {
        for (int i = 0; i < 500; ++i) {
            domain.retire(&object, [](void*) {});
        }
        EXPECT_EQ(domain.collect(), 500u);
    };
    retireMany();

    const test::AllocationCount count;
    retireMany();
    retireMany();
    EXPECT_EQ(count.allocations(), 0u);
}

// Later threads use the places of earlier ones, so each costs as much as the one before.
TEST(EpochAllocationTest, EndedThreadsLeaveNothingBehind) {
    EpochDomain domain;
    const auto runThread = [&] {
        const test::AllocationCount count;
        std::thread([&] { const auto guard = domain.enter(); }).join();
        return count.allocations() - count.deallocations();
    };
    (void)runThread();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(runThread(), 0u);
    }
}

// A thread forgets dead domains when it meets new ones, so their number does not grow with its
// life.
TEST(EpochAllocationTest, ThreadForgetsDeadDomains) {
    const test::AllocationCount count;
    for (int i = 0; i < 1000; ++i) {
        EpochDomain domain;
        const auto guard = domain.enter();
    }
    EXPECT_LT(count.allocations(), count.deallocations() + 50U);
}

}  // namespace
}  // namespace sluice
