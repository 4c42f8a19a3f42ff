#include "support/crew.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

// Start, stop, drain, join: in every order, twice, from outside and inside of a handler.

namespace sluice {
namespace {

using namespace test;
using Log = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

TEST(ActorLifecycleTest, StopDiscardsWhatIsQueuedAndCountsIt) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<> keeper;
    ASSERT_TRUE(keeper.start());
    ASSERT_EQ(keeper.post(Hold{}), SendResult::ok);
    keeper.awaitHeld();
    // Also the message of high priority, which the running harvest would serve next.
    ASSERT_EQ(keeper.post(Add{1}, Priority::high), SendResult::ok);
    ASSERT_EQ(keeper.post(Add{2}), SendResult::ok);
    keeper.stop();
    EXPECT_TRUE(keeper.isClosed());
    EXPECT_EQ(keeper.post(Add{3}), SendResult::closed);
    keeper.open();
    EXPECT_TRUE(keeper.join());
    const auto total = keeper.statistics().total();
    EXPECT_EQ(keeper.log, Log{});
    EXPECT_EQ(total.delivered, 1U);
    EXPECT_EQ(total.discarded, 2U);
    EXPECT_EQ(total.closed, 1U);
    EXPECT_EQ(total.queued(), 0U);
}

TEST(ActorLifecycleTest, EachCallMayBeRepeated) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<> keeper;
    EXPECT_TRUE(keeper.join());  // it has no thread
    EXPECT_TRUE(keeper.start());
    EXPECT_FALSE(keeper.start());
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.stopAfterDrain(Clock::time_point::min()));
    EXPECT_TRUE(keeper.join());
    EXPECT_TRUE(keeper.join());
    keeper.stop();
    keeper.stop();
    EXPECT_FALSE(keeper.start());
}

TEST(ActorLifecycleTest, StopOfAnObjectThatNeverStartedDiscards) {
    Keeper<> keeper;
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    keeper.stop();
    EXPECT_EQ(keeper.statistics().total().discarded, 1U);
    EXPECT_FALSE(keeper.start());
    EXPECT_TRUE(keeper.join());
}

TEST(ActorLifecycleTest, DrainOfAnObjectThatNeverStartedDiscardsAndSaysSo) {
    Keeper<> keeper;
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    EXPECT_FALSE(keeper.stopAfterDrain(late()));
    EXPECT_EQ(keeper.statistics().total().discarded, 1U);
}

TEST(ActorLifecycleTest, DrainThatIsTooLateDiscardsTheRest) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<> keeper;
    ASSERT_TRUE(keeper.start());
    ASSERT_EQ(keeper.post(Hold{}), SendResult::ok);
    keeper.awaitHeld();
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    EXPECT_FALSE(keeper.stopAfterDrain(Clock::now() + std::chrono::milliseconds(1)));
    EXPECT_FALSE(keeper.stopAfterDrain(Clock::time_point::min()));
    keeper.open();
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.statistics().total().discarded, 1U);
}

enum class Way { stop, drain };

/// Stops itself in its handler.
class Quitter : public ActiveObject<Quitter, Messages<Way, int>> {
public:
    void handle(const Way& way) {
        wasHere = isHere();
        if (way == Way::stop) {
            stop();
        } else {
            wasDrained = stopAfterDrain(late());
        }
        hasJoined = join();
        hasStarted = start();
        result = post(5);
    }
    void handle(const int&) { ++handled; }

    bool wasHere = false;
    bool wasDrained = true;
    bool hasJoined = true;
    bool hasStarted = true;
    SendResult result = SendResult::ok;
    int handled = 0;
};

TEST(ActorLifecycleTest, HandlerMayStopItsObject) {
    const Watchdog watchdog([](std::FILE*) {});
    for (const Way way : {Way::stop, Way::drain}) {
        Quitter quitter;
        ASSERT_EQ(quitter.post(way), SendResult::ok);
        ASSERT_EQ(quitter.post(1), SendResult::ok);
        ASSERT_TRUE(quitter.start());
        EXPECT_TRUE(quitter.join());
        EXPECT_TRUE(quitter.wasHere);
        EXPECT_FALSE(quitter.hasJoined);
        EXPECT_FALSE(quitter.hasStarted);
        EXPECT_EQ(quitter.result, SendResult::closed);
        EXPECT_EQ(quitter.handled, way == Way::stop ? 0 : 1);
        EXPECT_FALSE(way == Way::drain && quitter.wasDrained);
        EXPECT_EQ(quitter.statistics().total().discarded, way == Way::stop ? 1U : 0U);
    }
}

TEST(ActorLifecycleTest, SeveralThreadsMayStopAndJoinAtOnce) {
    const Watchdog watchdog([](std::FILE*) {});
    for (int round = 0; round < 50; ++round) {
        Keeper<Holds<64>> keeper;
        std::atomic<int> starts{0};
        {
            Crew crew;
            for (int i = 0; i < 2; ++i) {
                crew.add([&] {
                    starts += keeper.start() ? 1 : 0;
                    (void)keeper.post(Add{1});
                    (void)keeper.stopAfterDrain(late());
                    EXPECT_TRUE(keeper.join());
                });
                crew.add([&] {
                    (void)keeper.post(Add{1});
                    keeper.stop();
                    EXPECT_TRUE(keeper.join());
                });
            }
        }
        const auto total = keeper.statistics().total();
        EXPECT_LE(starts, 1);
        EXPECT_EQ(total.queued(), 0U);
        EXPECT_EQ(total.attempted(), 4U);
        EXPECT_EQ(total.delivered, keeper.log.size());
    }
}

#if defined(GTEST_HAS_DEATH_TEST) && !SLUICE_TEST_TSAN
TEST(ActorLifecycleDeathTest, DestructionBeforeJoinEndsTheProgramWithAdvice) {
    EXPECT_DEATH(
        {
            Keeper<> keeper;
            (void)keeper.start();
            keeper.stop();
        },
        "call stop\\(\\) and join\\(\\) before");
}
#endif

}  // namespace
}  // namespace sluice
