#include "support/watchdog.hpp"

#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(__cpp_exceptions)

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct RestartingTraits : PooledTraits {
    static constexpr OnFailure onFailure = OnFailure::restart;
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = 1h;
    static constexpr std::chrono::nanoseconds restartBackOff = 10ms;
    static constexpr std::chrono::nanoseconds maxRestartBackOff = 30ms;
    static constexpr std::size_t maxTimers = 2;
};

/// Throws for negative values, and in as many restarts as it is told.
class Fragile : public PooledObject<Fragile, Messages<int>, RestartingTraits> {
public:
    explicit Fragile(int badRestarts = 0) : badRestarts_(badRestarts) {}
    void handle(const int& value) {
        if (value < 0) {
            throw std::runtime_error("negative");
        }
        handled.push_back(value);
    }
    void restart() {
        if (badRestarts_ != 0) {
            --badRestarts_;
            throw std::runtime_error("restart");
        }
    }
    void post(int first, int second, int third) {
        for (const int value : {first, second, third}) {
            EXPECT_EQ(PooledObject::post(value), SendResult::ok);
        }
    }
    using PooledObject::post;

    std::vector<int> handled;

private:
    int badRestarts_;
};

using Values = std::vector<int>;

TEST(PooledRestartTest, MessagesWaitUntilTheRestart) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    object.post(1, -1, 2);
    executor.runFor(9ms);
    EXPECT_EQ(object.handled, (Values{1}));
    EXPECT_EQ(object.sizeApprox(), 1U);
    (void)object.post(3, Priority::high);
    executor.runFor(999us);
    EXPECT_EQ(object.handled, (Values{1}));
    executor.runFor(1us);
    EXPECT_EQ(object.handled, (Values{1, 3, 2}));
    EXPECT_EQ(object.statistics().restarts, 1U);
    EXPECT_EQ(object.statistics().failed, 1U);
}

TEST(PooledRestartTest, OtherObjectsGoOn) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    Running<Fragile> other(executor);
    (void)object.post(-1);
    other.post(1, 2, 3);
    (void)executor.runAll();
    EXPECT_EQ(other.handled, (Values{1, 2, 3}));
    EXPECT_EQ(executor.readyCount(), 0U);
}

TEST(PooledRestartTest, TheWaitDoublesUpToItsMaximumAndTheLimitStops) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    object.post(-1, -2, -3);
    (void)object.post(-4);
    (void)object.post(5);
    executor.runFor(10ms);
    EXPECT_EQ(object.statistics().restarts, 1U);
    executor.runFor(20ms);
    EXPECT_EQ(object.statistics().restarts, 2U);
    executor.runFor(29ms);
    EXPECT_EQ(object.statistics().restarts, 2U);
    EXPECT_FALSE(object.isClosed());
    executor.runFor(1ms);
    EXPECT_EQ(object.statistics().restarts, 3U);
    EXPECT_TRUE(object.hasEnded()) << "the fourth failure is beyond the limit";
    EXPECT_EQ(object.statistics().discarded, 1U);
    EXPECT_EQ(object.statistics().failed, 4U);
}

TEST(PooledRestartTest, ARestartThatThrowsIsAFailure) {
    ManualExecutor executor;
    Running<Fragile> object(executor, 1);
    object.post(-1, 2, 3);
    executor.runFor(10ms);
    EXPECT_EQ(object.statistics().restarts, 0U);
    executor.runFor(20ms);
    EXPECT_EQ(object.statistics().restarts, 1U);
    EXPECT_EQ(object.statistics().failed, 2U);
    EXPECT_EQ(object.handled, (Values{2, 3}));
}

TEST(PooledRestartTest, TimersWaitAsWell) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    ASSERT_TRUE(object.postAfter(5ms, 7));
    (void)object.post(-1);
    executor.runFor(9ms);
    EXPECT_TRUE(object.handled.empty());
    executor.runFor(1ms);
    EXPECT_EQ(object.handled, (Values{7}));
}

TEST(PooledRestartTest, ADrainingObjectDoesNotWait) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    object.post(-1, 2, 3);
    EXPECT_TRUE(object.stopAfterDrain(StdPlatform::Clock::time_point::max()));
    EXPECT_EQ(object.handled, (Values{2, 3}));
    EXPECT_EQ(executor.now().time_since_epoch(), 0ns);
}

TEST(PooledRestartTest, AStoppedObjectDiscards) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    object.post(-1, 2, 3);
    (void)executor.runAll();
    object.stop();
    EXPECT_TRUE(object.join());
    EXPECT_TRUE(object.handled.empty());
    EXPECT_EQ(object.statistics().discarded, 2U);
    EXPECT_EQ(object.statistics().restarts, 0U);
}

TEST(PooledRestartTest, WorksOnThreads) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Fragile> object(pool);
    object.post(-1, 2, 3);
    while (object.statistics().handled < 3) {
        std::this_thread::yield();
    }
    EXPECT_EQ(object.statistics().restarts, 1U);
    object.stop();
    EXPECT_TRUE(object.join());
    EXPECT_EQ(object.handled, (Values{2, 3}));
}

}  // namespace
}  // namespace sluice

#endif
