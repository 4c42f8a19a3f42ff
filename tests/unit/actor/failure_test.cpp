#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/actor_traits.hpp>
#include <sluice/actor/detail/failure_handling.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/wait/park.hpp>

#include "support/testing.hpp"
#include <exception>

#if defined(__cpp_exceptions)
namespace sluice {
namespace {
namespace ownThread {

using namespace test;

template <OnFailure Action, unsigned Limit = 2>
struct Policy : ActorTraits {
    static constexpr OnFailure onFailure = Action;
    static constexpr unsigned restartLimit = Limit;
    static constexpr std::chrono::nanoseconds restartPeriod = std::chrono::hours(1);
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::nanoseconds(1);
};

/// Throws for negative values. The first `badRestarts` calls of restart() throw, too.
template <class Traits>
class Fragile : public ActiveObject<Fragile<Traits>, Messages<int>, Traits> {
public:
    void handle(const int& value) {
        if (value < 0) {
            awaitThat([this] { return mayFail.load(std::memory_order_acquire); });
            throw std::runtime_error("negative");
        }
        sum += value;
    }
    void restart() {
        if (badRestarts-- > 0) {
            throw std::runtime_error("restart");
        }
        sum = 0;
    }
    void handlerFailed(std::exception_ptr exception) noexcept {
        try {
            std::rethrow_exception(exception);
        } catch (const std::exception& e) {
            told.emplace_back(e.what());
        }
    }

    /// Handles the values, as far as it does.
    void run(const std::vector<int>& values) {
        for (const int value : values) {
            ASSERT_EQ(this->post(value), SendResult::ok);
        }
        ASSERT_TRUE(this->start());
        isDrained = this->stopAfterDrain(late());
        EXPECT_TRUE(this->join());
    }

    std::atomic<bool> mayFail{true};
    int badRestarts = 0;
    int sum = 0;
    bool isDrained = false;
    std::vector<std::string> told;
};

using ActorFailureTest = test::GuardedTest;
TEST_F(ActorFailureTest, GoesOnAndCounts) {
    Fragile<Policy<OnFailure::goOn>> object;
    object.run({1, -1, 2, -1, 4});
    EXPECT_TRUE(object.isDrained);
    EXPECT_EQ(object.sum, 7);
    EXPECT_EQ(object.failures(), 2U);
    EXPECT_EQ(object.told, (std::vector<std::string>{"negative", "negative"}));
    EXPECT_EQ(object.statistics().total().failed, 2U);
    EXPECT_EQ(object.statistics().total().delivered, 5U);
}

TEST_F(ActorFailureTest, StopsAndDiscardsTheRest) {
    Fragile<Policy<OnFailure::stop>> object;
    object.run({1, -1, 2, 4});
    EXPECT_FALSE(object.isDrained);
    EXPECT_EQ(object.sum, 1);
    EXPECT_EQ(object.statistics().total().delivered, 2U);
    EXPECT_EQ(object.statistics().total().discarded, 2U);
    EXPECT_EQ(object.post(1), SendResult::closed);
}

TEST_F(ActorFailureTest, StopsBeyondTheLimitOfRestarts) {
    Fragile<Policy<OnFailure::restart>> object;
    object.run({-1, -1, 1, -1, 2});
    EXPECT_FALSE(object.isDrained);
    EXPECT_EQ(object.sum, 1);
    EXPECT_EQ(object.restarts(), 2U);
    EXPECT_EQ(object.failures(), 3U);
    EXPECT_EQ(object.statistics().total().discarded, 1U);
}

TEST_F(ActorFailureTest, RestartThatThrowsTakesAnotherRestart) {
    Fragile<Policy<OnFailure::restart>> object;
    object.badRestarts = 1;
    object.run({-1, 2});
    EXPECT_TRUE(object.isDrained);
    EXPECT_EQ(object.restarts(), 1U);
    EXPECT_EQ(object.failures(), 2U);
    EXPECT_EQ(object.told, (std::vector<std::string>{"negative", "restart"}));
}

/// Sleeps at once, so a waiter that is not notified sleeps on.
struct Sleep : Park {
    Sleep() : Park(Options{0, 0}) {}
};
struct Patient : Policy<OnFailure::restart> {
    using Wait = ObservedWait<Sleep>;
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::hours(1);
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::hours(1);
};

TEST_F(ActorFailureTest, StopEndsTheWaitBeforeARestart) {
    Fragile<Patient> object;
    object.mayFail = false;
    ASSERT_EQ(object.post(-1), SendResult::ok);
    ASSERT_TRUE(object.start());
    // The start has told all waiters of the new state. From now on only the stop tells them.
    const std::uint64_t refusals = Patient::Wait::refusals();
    object.mayFail.store(true, std::memory_order_release);
    awaitThat([&] { return Patient::Wait::refusals() != refusals; });
    object.stop();
    EXPECT_TRUE(object.join());
    EXPECT_EQ(object.failures(), 1U);
    EXPECT_EQ(object.restarts(), 0U);
}

}  // namespace ownThread
}  // namespace
}  // namespace sluice
#endif

#if defined(__cpp_exceptions)
namespace sluice {
namespace {
namespace shared {

using namespace std::chrono_literals;

struct RestartingTraits : PooledTraits {
    static constexpr OnFailure onFailure = OnFailure::restart;
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = 1h;
    static constexpr std::chrono::nanoseconds restartBackOff = 10ms;
    static constexpr std::chrono::nanoseconds maxRestartBackOff = 30ms;
    static constexpr std::size_t maxTimers = 2;
};

/// Throws for negative values.
class Fragile : public PooledObject<Fragile, Messages<int>, RestartingTraits> {
public:
    void handle(const int& value) {
        if (value < 0) {
            throw std::runtime_error("negative");
        }
        handled.push_back(value);
    }
    void restart() {}
    void post(int first, int second, int third) {
        for (const int value : {first, second, third}) {
            EXPECT_EQ(PooledObject::post(value), SendResult::ok);
        }
    }
    using PooledObject::post;

    std::vector<int> handled;
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

}  // namespace shared
}  // namespace
}  // namespace sluice
#endif

namespace sluice {
namespace {
namespace budgets {

using namespace std::chrono_literals;
using Clock = ActorTraits::Platform::Clock;

struct ThreeInTen : ActorTraits {
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = 10s;
    static constexpr std::chrono::nanoseconds restartBackOff = 2s;
    static constexpr std::chrono::nanoseconds maxRestartBackOff = 5s;
};

TEST(ActorTraitsTest, BackOffDoublesUpToItsLimitAndRestartsAreLimited) {
    detail::RestartBudget<ThreeInTen> budget;
    const Clock::time_point start{100s};
    EXPECT_EQ(budget.take(start), 2s);
    EXPECT_EQ(budget.take(start + 1s), 4s);
    EXPECT_EQ(budget.take(start + 2s), 5s);
    EXPECT_EQ(budget.take(start + 10s - 1ns), std::nullopt);
    EXPECT_EQ(budget.take(start + 10s), 5s) << "two in the last ten seconds";
    EXPECT_EQ(budget.take(start + 11s - 1ns), std::nullopt);
    EXPECT_EQ(budget.take(start + 11s), 5s);
    EXPECT_EQ(budget.take(start + 30s), 2s);
}

struct NeverRestarts : ThreeInTen {
    static constexpr unsigned restartLimit = 0;
};
struct LongestBackOff : ThreeInTen {
    static constexpr std::chrono::nanoseconds restartBackOff =
        std::chrono::nanoseconds::max() - 1ns;
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::nanoseconds::max();
};

TEST(ActorTraitsTest, ExtremeLimits) {
    detail::RestartBudget<NeverRestarts> none;
    EXPECT_EQ(none.take(Clock::time_point{}), std::nullopt);
    detail::RestartBudget<LongestBackOff> longest;
    EXPECT_EQ(longest.take(Clock::time_point{}), LongestBackOff::restartBackOff);
    EXPECT_EQ(longest.take(Clock::time_point{}), std::chrono::nanoseconds::max());
}

}  // namespace budgets
}  // namespace
}  // namespace sluice
