#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace sluice {
namespace {

using namespace test;

class Adder : public ActiveObject<Adder, Messages<int>> {
public:
    Adder(std::string prefix, std::atomic<int>& sum) : prefix_(std::move(prefix)), sum_(sum) {}
    void handle(const int& value) { sum_ += value + static_cast<int>(prefix_.size()); }

private:
    std::string prefix_;  // gone before the base: the thread must have ended by then
    std::atomic<int>& sum_;
};

TEST(RunningTest, StartsWhenCompleteAndJoinsBeforeAnythingGoes) {
    const Watchdog watchdog([](std::FILE*) {});
    std::atomic<int> sum{0};
    {
        Running<Adder> adder({"adder"}, "12345", sum);
        ASSERT_EQ(adder.post(10), SendResult::ok);
        while (sum == 0) {
            std::this_thread::yield();
        }
        (void)adder.post(10);
    }
    const int atEnd = sum;
    EXPECT_TRUE(atEnd == 15 || atEnd == 30);
}

TEST(RunningTest, HandlesWhatIsQueuedAfterDrain) {
    const Watchdog watchdog([](std::FILE*) {});
    Running<Keeper<>> keeper;
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    EXPECT_FALSE(keeper.start());
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.log.size(), 1U);
}

#if defined(__cpp_exceptions) && defined(__linux__)
TEST(RunningTest, RefusedThreadLeavesNothing) {
    std::atomic<int> sum{0};
    EXPECT_THROW(Running<Adder>({"a name of sixteen or more letters"}, "", sum),
                 std::invalid_argument);
}
#endif

#if defined(GTEST_HAS_DEATH_TEST) && !SLUICE_TEST_TSAN
/// Destroys itself in its handler.
class Suicidal : public ActiveObject<Suicidal, Messages<int>> {
public:
    void handle(const int&);
    std::unique_ptr<Running<Suicidal>> self;
};
void Suicidal::handle(const int&) {
    self.reset();
}

TEST(RunningDeathTest, DestructionInAnOwnHandlerEndsTheProgramWithAdvice) {
    EXPECT_DEATH(
        {
            auto object = std::make_unique<Running<Suicidal>>();
            Suicidal& living = *object;
            living.self = std::move(object);
            (void)living.post(1);
            (void)living.join();
        },
        "let another thread destroy it");
}

/// The same on a pool.
class SuicidalOnAPool : public PooledObject<SuicidalOnAPool, Messages<int>> {
public:
    void handle(const int&);
    std::unique_ptr<Running<SuicidalOnAPool>> self;
};
void SuicidalOnAPool::handle(const int&) {
    self.reset();
}

TEST(RunningDeathTest, SoDoesThatOfAnObjectOnAPool) {
    EXPECT_DEATH(
        {
            ThreadPool pool(1);
            auto object = std::make_unique<Running<SuicidalOnAPool>>(pool);
            SuicidalOnAPool& living = *object;
            living.self = std::move(object);
            (void)living.post(1);
            (void)living.join();
        },
        "let another thread destroy it");
}
#endif

}  // namespace
}  // namespace sluice
