#include "support/allocation_count.hpp"
#include "support/intake_tools.hpp"

#include <sluice/log/detail/lanes/intake.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>

namespace sluice::test {
namespace {

using log::detail::endOfTime;
using log::detail::IntakeOptions;
using log::detail::PostResult;

using Intake = LabelIntake<>;

/// Posts as much as the lane takes, and emits it.
void round(Intake& intake, log::overflow_policy policy) {
    for (std::uint32_t i = 0; i < 100; ++i) {
        (void)postBytes(intake, {0, i}, i, policy);
    }
    intake.look();
    intake.emitBefore(endOfTime, 1000, [](const Intake::Record&) {});
}

TEST(IntakeAllocation, PostsAndHarvestsAllocateNothing) {
    for (const auto policy : {blocking, discarding, overrunning}) {
        IntakeOptions options;
        options.laneMessages = policy == blocking ? 8192 : 50;
        Intake intake(options);
        round(intake, policy);
        const AllocationCount count;
        for (int i = 0; i < 1000; ++i) {
            round(intake, policy);
        }
        EXPECT_EQ(count.allocations(), 0U);
    }
}

TEST(IntakeAllocation, ARecordLargerThanTheLaneAllocatesOneBlock) {
    IntakeOptions options;
    options.laneBytes = 1024;
    Intake intake(options);
    round(intake, discarding);
    const AllocationCount count;
    ASSERT_EQ(postBytes(intake, {0, 0}, 5000), PostResult::ok);
    EXPECT_EQ(count.allocations(), 1U);
    intake.look();
    intake.emitBefore(endOfTime, 1, [](const Intake::Record&) {});
    EXPECT_EQ(count.deallocations(), 1U);
}

TEST(IntakeAllocation, ThreadsThatHaveGoneLeaveNoMemoryBehind) {
    Intake intake;
    const auto useThreads = [&intake](int threads) {
        for (int i = 0; i < threads; ++i) {
            std::thread([&intake] {
                ASSERT_EQ(postBytes(intake, {0, 0}, 100), PostResult::ok);
            }).join();
            intake.look();
            intake.emitBefore(endOfTime, 10, [](const Intake::Record&) {});
        }
    };
    useThreads(10);
    const AllocationCount count;
    useThreads(20'000);
    EXPECT_EQ(count.allocations(), count.deallocations());
}

TEST(IntakeAllocation, AnIntakeGivesItsMemoryBackWhileThreadsStay) {
    struct Idle {
        static void once() {
            Intake intake;
            (void)postBytes(intake, {0, 0}, 100);
        }
    };
    for (int i = 0; i < 100; ++i) {
        Idle::once();
    }
    // A thread remembers some intakes that have gone; their lanes have no bytes any more.
    const AllocationCount count;
    for (int i = 0; i < 1000; ++i) {
        Idle::once();
    }
    EXPECT_LE(count.allocations(), count.deallocations() + 64U);
}

}  // namespace
}  // namespace sluice::test
