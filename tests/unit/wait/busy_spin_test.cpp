#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/busy_spin.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;

static_assert(std::is_empty_v<BusySpin>);
static_assert(std::is_same_v<BusySpin::Clock, StdPlatform::Clock>);
static_assert(noexcept(BusySpin{}.notifyAll()));

class BusySpinTest : public testing::Test {
protected:
    auto readyAtPoll(int number) {
        return [this, number] { return ++polls == number; };
    }

    Script script;
    BasicBusySpin<test::ScriptedPlatform> strategy;
    int polls = 0;
};

TEST_F(BusySpinTest, PausesBetweenPollsAndNeverYields) {
    strategy.wait(readyAtPoll(1000));
    EXPECT_EQ(polls, 1000);
    EXPECT_EQ(script.pauses, 999);
    EXPECT_EQ(script.yields, 0);
}

TEST_F(BusySpinTest, OnePollWithoutPauseIsEnough) {
    strategy.wait(readyAtPoll(1));
    EXPECT_EQ(polls, 1);
    EXPECT_EQ(script.pauses, 0);
}

TEST_F(BusySpinTest, UntimedWaitNeverReadsTheClock) {
    strategy.wait(readyAtPoll(100));
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(BusySpinTest, TimedWaitEndsAtTheDeadline) {
    script.step = 10ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(polls, 11) << "the clock shows 0, 10, ..., 100";
    EXPECT_EQ(script.pauses, 10);
    EXPECT_EQ(script.yields, 0);
}

TEST_F(BusySpinTest, TimeIsUpWhenTheClockShowsTheDeadline) {
    script.now = 95ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(polls, 1);
}

TEST_F(BusySpinTest, TimedWaitEndsWhenReady) {
    script.step = 10ns;
    EXPECT_TRUE(strategy.waitUntil(readyAtPoll(5), at(95)));
    EXPECT_EQ(polls, 5);
}

TEST_F(BusySpinTest, ReadyCountsMoreThanADeadlineThatHasPassed) {
    script.now = 1000ns;
    EXPECT_TRUE(strategy.waitUntil(readyAtPoll(1), at(95)));
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(polls, 2);
}

}  // namespace
}  // namespace sluice
