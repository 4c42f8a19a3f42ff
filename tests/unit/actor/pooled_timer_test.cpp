#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct WithTimers : PooledTraits {
    static constexpr std::size_t maxTimers = 2;
};
struct Tick {};
struct Fail {};

class Timed : public PooledObject<Timed, Messages<Tick, Fail>, WithTimers> {
public:
    explicit Timed(const Executor& executor) : executor_(executor) {}
    void handle(const Tick&) {
        ticks.push_back((executor_.now() - Executor::TimePoint()) / 1ms);
        if (cancelsAfter != 0 && ticks.size() == cancelsAfter) {
            EXPECT_TRUE(cancel(timer));
        }
    }
    void handle(const Fail&) {
#if defined(__cpp_exceptions)
        throw 1;
#endif
    }
    std::vector<long long> ticks;  ///< milliseconds
    std::size_t cancelsAfter = 0;
    Timer timer;

private:
    const Executor& executor_;
};
using Ticks = std::vector<long long>;

class Plain : public PooledObject<Plain, Messages<Tick>> {
public:
    void handle(const Tick&) {}
};

class PooledTimerTest : public testing::Test {
protected:
    ManualExecutor executor_;
    Running<Timed> object_{executor_, executor_};
};

TEST_F(PooledTimerTest, FireAtTheirTimes) {
    EXPECT_TRUE(object_.postAfter(30ms, Tick{}));
    EXPECT_TRUE(object_.postAfter(10ms, Tick{}));
    EXPECT_FALSE(object_.postAfter(5ms, Tick{})) << "there are two";
    executor_.runFor(9ms);
    EXPECT_EQ(object_.ticks, Ticks{});
    executor_.runFor(20ms);
    EXPECT_EQ(object_.ticks, Ticks{10});
    EXPECT_TRUE(object_.postAfter(0ms, Tick{}));
    EXPECT_EQ(executor_.runAll(), 1U);
    EXPECT_EQ(object_.ticks, (Ticks{10, 29}));
    executor_.runFor(1h);
    EXPECT_EQ(object_.ticks, (Ticks{10, 29, 30}));
    EXPECT_EQ(object_.firedTimers(), 3U);
    EXPECT_EQ(object_.statistics().handled, 3U);
}

TEST_F(PooledTimerTest, RepeatUntilTheyAreCancelled) {
    object_.cancelsAfter = 4;
    object_.timer = object_.postEvery(10ms, Tick{});
    executor_.runFor(1s);
    EXPECT_EQ(object_.ticks, (Ticks{10, 20, 30, 40}));
    EXPECT_FALSE(object_.cancel(object_.timer));
}

struct OneTimer : PooledTraits {
    static constexpr std::size_t maxTimers = 1;
};
class Blinker : public PooledObject<Blinker, Messages<Tick>, OneTimer> {
public:
    void handle(const Tick&) { next = postAfter(1s, Tick{}); }
    Timer next;
};

TEST(PooledTimerLifeTest, AHandlerMayStartTheNextOfASingleTimer) {
    ManualExecutor executor;
    Running<Blinker> blinker(executor);
    ASSERT_TRUE(blinker.postAfter(1s, Tick{}));
    executor.runFor(10s);
    EXPECT_EQ(blinker.firedTimers(), 10U);
    EXPECT_FALSE(blinker.postAfter(1s, Tick{})) << "the next one is started";
    EXPECT_TRUE(blinker.cancel(blinker.next));
}

TEST_F(PooledTimerTest, CancelledFromOutsideTheyDoNotFire) {
    const Timer first = object_.postAfter(10ms, Tick{});
    const Timer second = object_.postAfter(20ms, Tick{});
    executor_.runFor(5ms);
    EXPECT_TRUE(object_.cancel(first));
    executor_.runFor(10ms);
    EXPECT_TRUE(object_.cancel(second));
    executor_.runFor(10ms);
    EXPECT_EQ(object_.ticks, Ticks{});
    EXPECT_TRUE(object_.postAfter(1ms, Tick{})) << "their slots are free";
}

TEST_F(PooledTimerTest, AnEarlierOneMovesTheAlarm) {
    EXPECT_TRUE(object_.postAfter(30ms, Tick{}));
    executor_.runFor(1ms);
    EXPECT_TRUE(object_.postAfter(9ms, Tick{}));
    executor_.runFor(100ms);
    EXPECT_EQ(object_.ticks, (Ticks{10, 30}));
}

TEST_F(PooledTimerTest, OnesOfAStoppedObjectDoNotFire) {
    EXPECT_TRUE(object_.postAfter(10ms, Tick{}));
    executor_.runFor(1ms);
    object_.stop();
    EXPECT_TRUE(object_.join());
    EXPECT_FALSE(object_.postAfter(1ms, Tick{}));
    executor_.runFor(1s);
    EXPECT_EQ(object_.ticks, Ticks{});
}

TEST(PooledTimerLifeTest, AnObjectThatWasStoppedDoesNotStart) {
    ManualExecutor executor;
    Timed timed(executor);
    timed.stop();
    EXPECT_FALSE(timed.start(executor));
    EXPECT_TRUE(timed.isClosed());
    EXPECT_TRUE(timed.hasEnded());
    EXPECT_TRUE(timed.join());
    Plain object;
    object.stop();
    EXPECT_FALSE(object.start(executor));
    EXPECT_EQ(object.post(Tick{}), SendResult::closed);
    EXPECT_TRUE(object.hasEnded());
}

TEST(PooledTimerLifeTest, BeforeTheStartThereAreNone) {
    ManualExecutor executor;
    Timed object(executor);
    EXPECT_FALSE(object.postAfter(1ms, Tick{}));
}

#if defined(__cpp_exceptions)
TEST_F(PooledTimerTest, HandlerThatThrowsKeepsTheOthers) {
    EXPECT_TRUE(object_.postAfter(10ms, Fail{}));
    EXPECT_TRUE(object_.postAfter(20ms, Tick{}));
    executor_.runFor(10ms);
    EXPECT_EQ(object_.statistics().failed, 1U);
    executor_.runFor(10ms);
    EXPECT_EQ(object_.ticks, Ticks{20});
}
#endif

}  // namespace
}  // namespace sluice
