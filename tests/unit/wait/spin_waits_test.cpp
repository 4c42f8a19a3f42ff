#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;
using Spin = BasicBusySpin<test::ScriptedPlatform>;
using Yielding = BasicSpinThenYield<test::ScriptedPlatform>;

[[maybe_unused]] constexpr SpinThenYield constantStrategy{SpinThenYield::Options{1}};
static_assert(std::is_empty_v<BusySpin>);
static_assert(noexcept(BusySpin{}.notifyAll()) && noexcept(SpinThenYield{}.notifyAll()));

template <class Strategy>
class SpinWaitTest : public testing::Test {
protected:
    auto readyAtPoll(int number) {
        return [this, number, own = 0]() mutable {
            ++polls;
            return ++own == number;
        };
    }

    Script script;
    Strategy strategy;
    int polls = 0;
};
using Strategies = testing::Types<Spin, Yielding>;
TYPED_TEST_SUITE(SpinWaitTest, Strategies, );

TYPED_TEST(SpinWaitTest, UntimedWaitNeverReadsTheClock) {
    this->strategy.wait(this->readyAtPoll(1));
    EXPECT_EQ(this->polls, 1);
    EXPECT_EQ(this->script.pauses, 0);
    this->strategy.wait(this->readyAtPoll(100));
    EXPECT_EQ(this->script.clockReadings, 0);
}

TYPED_TEST(SpinWaitTest, TimedWaitEndsWhenReadyOrAtTheDeadline) {
    this->script.step = 10ns;
    EXPECT_TRUE(this->strategy.waitUntil(this->readyAtPoll(5), at(95)));
    this->script.now = 0ns;
    this->polls = 0;
    EXPECT_FALSE(this->strategy.waitUntil(this->readyAtPoll(-1), at(95)));
    EXPECT_EQ(this->polls, 11) << "the clock shows 0, 10, ..., 100";
}

TYPED_TEST(SpinWaitTest, ReadyCountsMoreThanADeadlineThatHasPassed) {
    this->script.now = 1000ns;
    EXPECT_TRUE(this->strategy.waitUntil(this->readyAtPoll(1), at(95)));
    EXPECT_FALSE(this->strategy.waitUntil(this->readyAtPoll(-1), at(95)));
    EXPECT_EQ(this->polls, 2);
}

using BusySpinTest = SpinWaitTest<Spin>;

TEST_F(BusySpinTest, PausesBetweenPollsAndNeverYields) {
    strategy.wait(readyAtPoll(1000));
    script.step = 10ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(script.pauses, 999 + 10);
    EXPECT_EQ(script.yields, 0);
}

using SpinThenYieldTest = SpinWaitTest<Yielding>;

TEST_F(SpinThenYieldTest, EachWaitPausesForSoManyPollsAndThenYields) {
    strategy = Yielding{Yielding::Options{3}};
    strategy.wait(readyAtPoll(4));
    EXPECT_EQ(script.pauses, 3);
    EXPECT_EQ(script.yields, 0);
    strategy.wait(readyAtPoll(10));
    EXPECT_EQ(script.pauses, 6);
    EXPECT_EQ(script.yields, 6);
    script.step = 10ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(95)));
    EXPECT_EQ(script.pauses, 9);
    EXPECT_EQ(script.yields, 6 + 7);
}

}  // namespace
}  // namespace sluice
