#include "unit/wait/idle_thread.hpp"
#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;
using Strategy = BasicPark<test::ScriptedPlatform, test::ScriptedParker>;

static_assert(std::is_nothrow_default_constructible_v<Park>);
static_assert(!std::is_copy_constructible_v<Park>);
static_assert(std::is_same_v<Park::Clock, StdPlatform::Clock>);
static_assert(noexcept(std::declval<Park&>().notifyAll()));

class ParkTest : public testing::Test {
protected:
    auto readyAtPoll(int number) {
        return [this, number] { return ++polls == number; };
    }

    bool nobodyIsAnnounced() {
        const int before = script.unparks;
        strategy.notifyAll();
        return script.unparks == before;
    }

    Script script;
    Strategy strategy{Strategy::Options{5, 3}};
    int polls = 0;
};

TEST_F(ParkTest, SpinsThenYieldsThenSleeps) {
    bool isReady = false;
    script.onPark = [&] {
        isReady = true;
        strategy.notifyAll();
    };
    strategy.wait([&] {
        ++polls;
        return isReady;
    });
    EXPECT_EQ(script.pauses, 5);
    EXPECT_EQ(script.yields, 3);
    EXPECT_EQ(script.parks, 1);
    EXPECT_EQ(polls, 5 + 3 + 1 + 1) << "spin, yield, once announced, once awake again";
}

TEST_F(ParkTest, ShortWaitCallsNoKernel) {
    strategy.wait(readyAtPoll(5));
    EXPECT_EQ(script.pauses, 4);
    EXPECT_EQ(script.yields, 0);
    EXPECT_EQ(script.heavyFences, 0);
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(ParkTest, NotifyingWhileNobodySleepsCallsNoKernel) {
    for (const int poll : {1, 5, 8, 9}) {
        polls = 0;
        strategy.wait(readyAtPoll(poll));
        EXPECT_TRUE(nobodyIsAnnounced()) << poll;
    }
    EXPECT_EQ(script.parks, 0);
    EXPECT_EQ(script.unparks, 0);
}

TEST_F(ParkTest, DefaultsAre64PausesAnd8Yields) {
    Strategy subject;
    subject.wait(readyAtPoll(64 + 8 + 1));
    EXPECT_EQ(script.pauses, 64);
    EXPECT_EQ(script.yields, 8);
    EXPECT_EQ(script.heavyFences, 1);
}

TEST_F(ParkTest, PollsSeldomWherePollsAreInVain) {
    script.onPark = [this] { strategy.notifyAll(); };
    const auto pausesOfAWait = [this](int poll) {
        const int before = script.pauses;
        polls = 0;
        strategy.wait(readyAtPoll(poll));
        return script.pauses - before;
    };
    constexpr int asleep = 5 + 3 + 1 + 1;
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(pausesOfAWait(asleep), 5) << i;
    }
    constexpr int asleepAtOnce = 1 + 1 + 1;
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(pausesOfAWait(asleepAtOnce), 0) << i;
        EXPECT_EQ(pausesOfAWait(1), 0) << "no wait at all, so it does not count";
    }
    EXPECT_EQ(pausesOfAWait(asleep), 5) << "once in a while";
    for (int i = 0; i < 15; ++i) {
        EXPECT_EQ(pausesOfAWait(asleepAtOnce), 0) << i;
    }
    EXPECT_EQ(pausesOfAWait(3), 2) << "they succeed again";
    EXPECT_EQ(pausesOfAWait(asleep), 5);
}

TEST_F(ParkTest, MaySleepAtOnce) {
    Strategy subject{Strategy::Options{0, 0}};
    script.onPark = [&] { subject.notifyAll(); };
    subject.wait(readyAtPoll(2));
    EXPECT_EQ(script.pauses + script.yields, 0);
    EXPECT_EQ(script.parks, 1);
}

TEST_F(ParkTest, TimedWaitSleepsUntilTheDeadlineAtMost) {
    script.onPark = [this] { script.now += 100ns; };
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(100)));
    EXPECT_EQ(script.pauses, 5);
    EXPECT_EQ(script.yields, 3);
    EXPECT_EQ(script.timedParks, (std::vector<Script::Time>{100ns}));
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(ParkTest, TimedWaitEndsWhenReadyInAnyStage) {
    for (const int poll : {1, 5, 8, 9}) {
        polls = 0;
        EXPECT_TRUE(strategy.waitUntil(readyAtPoll(poll), at(100))) << poll;
    }
    EXPECT_TRUE(script.timedParks.empty());
}

TEST_F(ParkTest, TimedWaitWithoutTimeLooksOnceAndAnnouncesNothing) {
    script.now = 100ns;
    EXPECT_FALSE(strategy.waitUntil(readyAtPoll(-1), at(100)));
    EXPECT_EQ(polls, 1);
    EXPECT_EQ(script.pauses + script.yields + script.heavyFences, 0);
}

#if defined(__cpp_exceptions)
TEST_F(ParkTest, ThrowingConditionCallsTheWaitOffInAnyStage) {
    for (const int poll : {1, 5, 8, 9}) {
        const auto throwing = [&]() -> bool {
            return ++polls == poll ? throw std::runtime_error("from ready") : false;
        };
        polls = 0;
        EXPECT_THROW(strategy.wait(throwing), std::runtime_error);
        polls = 0;
        EXPECT_THROW((void)strategy.waitUntil(throwing, at(100)), std::runtime_error);
        EXPECT_TRUE(nobodyIsAnnounced()) << poll;
    }
    EXPECT_EQ(script.parks, 0);
}
#endif

// ---- on the real machine

template <class Strategy>
class ParkedThreadTest : public testing::Test {
protected:
    // Long enough for one percent of it to be much more than falling asleep and waking up takes.
    static constexpr std::chrono::milliseconds period{200};
};

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};
struct ParkedNames {
    template <class Strategy>
    static std::string GetName(int) {
        return std::is_same_v<Strategy, BasicPark<StdPlatform, detail::CondVarParker>> ? "CondVar"
               : std::is_same_v<Strategy, Park>                                        ? "Default"
                                                                                       : "Portable";
    }
};
using Parked = testing::Types<Park, BasicPark<StdPlatform, detail::CondVarParker>,
                              BasicPark<PortablePlatform>>;
TYPED_TEST_SUITE(ParkedThreadTest, Parked, ParkedNames);

TYPED_TEST(ParkedThreadTest, UsesLessThanOnePercentOfAProcessor) {
    EXPECT_TRUE(test::sleeps([&] {
        TypeParam strategy;
        std::atomic<bool> isReady{false};
        test::Usage usage;
        std::thread sleeper([&] {
            usage = test::usageOf(
                [&] { strategy.wait([&] { return isReady.load(std::memory_order_acquire); }); });
        });
        std::this_thread::sleep_for(this->period);
        isReady.store(true, std::memory_order_release);
        strategy.notifyAll();
        sleeper.join();
        return usage;
    }));
}

TYPED_TEST(ParkedThreadTest, UsesLessThanOnePercentOfAProcessorUnderALimit) {
    TypeParam strategy;
    EXPECT_TRUE(test::sleeps([&] {
        return test::usageOf([&] {
            const auto deadline = TypeParam::Clock::now() + this->period;
            EXPECT_FALSE(strategy.waitUntil([] { return false; }, deadline));
            EXPECT_GE(TypeParam::Clock::now(), deadline);
        });
    }));
}

}  // namespace
}  // namespace sluice
