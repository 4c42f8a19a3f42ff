#include "support/crew.hpp"
#include "support/intake_tools.hpp"
#include "support/stopping_clock.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/intake.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

// A stopped thread, and a limit for how long it may hold the output back.

namespace sluice::test {
namespace {

using log::thread_statistics;
using log::detail::IntakeOptions;
using log::detail::PostResult;

class IntakeStall : public testing::Test {
protected:
    using StoppingIntake = LabelIntake<StoppingTraits>;

    void stopAThread(StoppingIntake& intake) {
        StoppingClock::isStopped = false;
        StoppingClock::mayGoOn = false;
        thread_ = std::thread([&intake] {
            StoppingClock::stops = true;
            ASSERT_EQ(postText(intake, {0, 1}, "stopped"), PostResult::ok);
        });
        awaitThat([] { return StoppingClock::isStopped.load(); });
    }
    void letItGoOn() {
        StoppingClock::mayGoOn = true;
        thread_.join();
    }

private:
    std::thread thread_;
};

TEST_F(IntakeStall, AStoppedThreadHoldsBackWhatIsStampedLaterAndNothingElse) {
    StoppingIntake intake;
    ASSERT_EQ(postText(intake, {0, 0}, "before"), PostResult::ok);
    intake.look();
    stopAThread(intake);
    ASSERT_EQ(postText(intake, {0, 2}, "after"), PostResult::ok);
    EXPECT_EQ(numbersOf(harvest(intake)), std::vector<std::uint32_t>{0});
    EXPECT_EQ(harvest(intake).size(), 0U);
    EXPECT_EQ(harvest(intake).size(), 0U);
    EXPECT_EQ(intake.statistics().stalls, 1U);
    std::uint64_t inLanes = 0;
    (void)intake.statistics([&](const thread_statistics& lane) { inLanes += lane.stalls; });
    EXPECT_EQ(inLanes, 1U);
    letItGoOn();
    EXPECT_EQ(numbersOf(harvest(intake)), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_GT(intake.statistics().longest_stall.count(), 0);
    EXPECT_EQ(intake.statistics().order_violations, 0U);
}

TEST_F(IntakeStall, ALimitLetsTheOthersPassAndCountsWhatComesTooLate) {
    IntakeOptions options;
    options.maxHold = std::chrono::milliseconds(5);
    StoppingIntake intake(options);
    const Watchdog watchdog(stateOf(intake));
    stopAThread(intake);
    ASSERT_EQ(postText(intake, {0, 2}, "after"), PostResult::ok);
    std::vector<Emitted> all;
    while (all.empty()) {
        all = harvest(intake);
    }
    EXPECT_EQ(numbersOf(all), std::vector<std::uint32_t>{2});
    EXPECT_EQ(intake.statistics().ignored_stalls, 1U);
    EXPECT_EQ(intake.statistics().order_violations, 0U);
    letItGoOn();
    EXPECT_EQ(numbersOf(harvest(intake)), std::vector<std::uint32_t>{1});
    EXPECT_EQ(intake.statistics().order_violations, 1U);
    EXPECT_GE(intake.statistics().longest_stall, std::chrono::milliseconds(5));
}

// While it is stopped the back end sleeps; what wakes it is the thread going on.
TEST_F(IntakeStall, TheBackEndSleepsWhileAThreadIsStopped) {
    StoppingIntake intake;
    const Watchdog watchdog(stateOf(intake));
    stopAThread(intake);
    ASSERT_EQ(postText(intake, {0, 2}, "after"), PostResult::ok);
    intake.look();
    intake.look();
    EXPECT_FALSE(intake.waitForWork(StdPlatform::Clock::now() + std::chrono::milliseconds(1)));
    EXPECT_FALSE(intake.waitForWork(StdPlatform::Clock::time_point::max()));
    letItGoOn();
    EXPECT_TRUE(intake.waitForWork(StdPlatform::Clock::time_point::max()));
    EXPECT_EQ(harvest(intake).size(), 2U);
}

}  // namespace
}  // namespace sluice::test
