#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/spin_then_yield.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;
using Strategy = BasicSpinThenYield<test::ScriptedPlatform>;

[[maybe_unused]] constexpr SpinThenYield constantStrategy{SpinThenYield::Options{1}};
static_assert(std::is_nothrow_default_constructible_v<SpinThenYield>);
static_assert(std::is_same_v<SpinThenYield::Clock, StdPlatform::Clock>);
static_assert(noexcept(SpinThenYield{}.notifyAll()));

class SpinThenYieldTest : public testing::Test {
protected:
    auto readyAtPoll(int number) {
        return [this, number, polls = 0]() mutable {
            ++allPolls;
            return ++polls == number;
        };
    }

    Script script;
    int allPolls = 0;
};

TEST_F(SpinThenYieldTest, PausesForSoManyPollsAndThenYields) {
    Strategy strategy{Strategy::Options{3}};
    strategy.wait(readyAtPoll(10));
    EXPECT_EQ(allPolls, 10);
    EXPECT_EQ(script.pauses, 3);
    EXPECT_EQ(script.yields, 6);
}

TEST_F(SpinThenYieldTest, DoesNotYieldWhenTheSpinIsLongEnough) {
    Strategy strategy{Strategy::Options{3}};
    strategy.wait(readyAtPoll(4));
    EXPECT_EQ(script.pauses, 3);
    EXPECT_EQ(script.yields, 0);
}

TEST_F(SpinThenYieldTest, EveryWaitBeginsWithTheSpin) {
    Strategy strategy{Strategy::Options{3}};
    strategy.wait(readyAtPoll(10));
    strategy.wait(readyAtPoll(10));
    EXPECT_EQ(script.pauses, 6);
    EXPECT_EQ(script.yields, 12);
}

TEST_F(SpinThenYieldTest, DefaultSpinIs64Pauses) {
    Strategy strategy;
    strategy.wait(readyAtPoll(66));
    EXPECT_EQ(script.pauses, 64);
    EXPECT_EQ(script.yields, 1);
}

TEST_F(SpinThenYieldTest, WithoutASpinItYieldsAtOnce) {
    Strategy strategy{Strategy::Options{0}};
    strategy.wait(readyAtPoll(2));
    EXPECT_EQ(script.pauses, 0);
    EXPECT_EQ(script.yields, 1);
}

TEST_F(SpinThenYieldTest, UntimedWaitNeverReadsTheClock) {
    Strategy strategy;
    strategy.wait(readyAtPoll(100));
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(SpinThenYieldTest, TimedWaitEndsAtTheDeadline) {
    Strategy strategy{Strategy::Options{3}};
    script.step = 10ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(allPolls, 11) << "the clock shows 0, 10, ..., 100";
    EXPECT_EQ(script.pauses, 3);
    EXPECT_EQ(script.yields, 7);
}

TEST_F(SpinThenYieldTest, TimeIsUpWhenTheClockShowsTheDeadline) {
    Strategy strategy;
    script.now = 95ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(allPolls, 1);
}

TEST_F(SpinThenYieldTest, ReadyCountsMoreThanADeadlineThatHasPassed) {
    Strategy strategy;
    script.now = 1000ns;
    EXPECT_TRUE(strategy.waitUntil(readyAtPoll(1), at(95)));
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(allPolls, 2);
}

}  // namespace
}  // namespace sluice
