#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>
#if defined(__cpp_exceptions)
#include <exception>
#include <stdexcept>

// A handler that throws.

namespace sluice {
namespace {

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

TEST(ActorFailureTest, GoesOnAndCounts) {
    const Watchdog watchdog([](std::FILE*) {});
    Fragile<Policy<OnFailure::goOn>> object;
    object.run({1, -1, 2, -1, 4});
    EXPECT_TRUE(object.isDrained);
    EXPECT_EQ(object.sum, 7);
    EXPECT_EQ(object.failures(), 2U);
    EXPECT_EQ(object.told, (std::vector<std::string>{"negative", "negative"}));
    EXPECT_EQ(object.statistics().total().failed, 2U);
    EXPECT_EQ(object.statistics().total().delivered, 5U);
}

TEST(ActorFailureTest, StopsAndDiscardsTheRest) {
    const Watchdog watchdog([](std::FILE*) {});
    Fragile<Policy<OnFailure::stop>> object;
    object.run({1, -1, 2, 4});
    EXPECT_FALSE(object.isDrained);
    EXPECT_EQ(object.sum, 1);
    EXPECT_EQ(object.statistics().total().delivered, 2U);
    EXPECT_EQ(object.statistics().total().discarded, 2U);
    EXPECT_EQ(object.post(1), SendResult::closed);
}

TEST(ActorFailureTest, RestartsAndKeepsTheMailbox) {
    const Watchdog watchdog([](std::FILE*) {});
    Fragile<Policy<OnFailure::restart>> object;
    object.run({1, -1, 2, 4});
    EXPECT_TRUE(object.isDrained);
    EXPECT_EQ(object.sum, 6);
    EXPECT_EQ(object.restarts(), 1U);
}

TEST(ActorFailureTest, StopsBeyondTheLimitOfRestarts) {
    const Watchdog watchdog([](std::FILE*) {});
    Fragile<Policy<OnFailure::restart>> object;
    object.run({-1, -1, 1, -1, 2});
    EXPECT_FALSE(object.isDrained);
    EXPECT_EQ(object.sum, 1);
    EXPECT_EQ(object.restarts(), 2U);
    EXPECT_EQ(object.failures(), 3U);
    EXPECT_EQ(object.statistics().total().discarded, 1U);
}

TEST(ActorFailureTest, RestartThatThrowsTakesAnotherRestart) {
    const Watchdog watchdog([](std::FILE*) {});
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

TEST(ActorFailureTest, StopEndsTheWaitBeforeARestart) {
    const Watchdog watchdog([](std::FILE*) {});
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

}  // namespace
}  // namespace sluice
#endif
