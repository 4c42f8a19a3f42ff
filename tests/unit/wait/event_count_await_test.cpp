#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/event_count.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

// The recipe as a whole (await, awaitUntil), and real threads on real event counts.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;
using Events = BasicEventCount<test::ScriptedPlatform, test::ScriptedParker>;

class EventCountAwaitTest : public testing::Test {
protected:
    auto readiness() {
        return [this] {
            ++looks;
            return isReady;
        };
    }

    // False afterwards means that some announcement was left behind.
    bool nobodyIsAnnounced() {
        const int before = script.unparks;
        events.notifyAll();
        return script.unparks == before;
    }

    Script script;
    Events events;
    bool isReady = false;
    int looks = 0;
};

TEST_F(EventCountAwaitTest, DoesNotSleepWhenReady) {
    isReady = true;
    events.await(readiness());
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(script.parks, 0);
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(EventCountAwaitTest, LooksAfterTheAnnouncementAndItsFence) {
    script.onHeavyFence = [this] {
        EXPECT_EQ(looks, 0);
        isReady = true;
    };
    script.onPark = [] { FAIL() << "fell asleep although the condition holds"; };
    events.await(readiness());
    EXPECT_EQ(looks, 1);
}

TEST_F(EventCountAwaitTest, LooksAgainAfterEachNotification) {
    script.onPark = [this] {
        isReady = script.parks == 3;
        events.notifyAll();
    };
    events.await(readiness());
    EXPECT_EQ(script.parks, 3);
    EXPECT_EQ(looks, 6) << "after each of three announcements and of three notifications";
    EXPECT_EQ(script.unparks, 3);
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(EventCountAwaitTest, DoesNotLookAfterASpuriousReturn) {
    script.onPark = [this] {
        isReady = true;
        if (script.parks == 3) {
            events.notifyAll();
        }
    };
    events.await(readiness());
    EXPECT_EQ(looks, 2);
}

TEST_F(EventCountAwaitTest, TimedDoesNotSleepWhenReady) {
    isReady = true;
    EXPECT_TRUE(events.awaitUntil(readiness(), at(100)));
    EXPECT_EQ(looks, 1);
    EXPECT_TRUE(script.timedParks.empty());
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(EventCountAwaitTest, TimedLooksAlthoughTheDeadlineHasPassed) {
    script.now = 1000ns;
    isReady = true;
    EXPECT_TRUE(events.awaitUntil(readiness(), at(100)));
    isReady = false;
    looks = 0;
    EXPECT_FALSE(events.awaitUntil(readiness(), at(100)));
    EXPECT_GE(looks, 1);
    EXPECT_TRUE(script.timedParks.empty());
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(EventCountAwaitTest, WithoutTimeItLooksOnceAndAnnouncesNothing) {
    script.now = 100ns;
    EXPECT_FALSE(events.awaitUntil(readiness(), at(100)));
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(script.heavyFences, 0);
}

TEST_F(EventCountAwaitTest, TimedGivesUpWhenTheDeadlineHasPassed) {
    script.onPark = [this] { script.now += 60ns; };
    EXPECT_FALSE(events.awaitUntil(readiness(), at(100)));
    EXPECT_GE(script.now, 100ns);
    EXPECT_EQ(script.timedParks, (std::vector<Script::Time>{100ns, 40ns}));
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(EventCountAwaitTest, TimedLooksAgainAfterEachNotification) {
    script.onPark = [this] {
        script.now += 20ns;
        isReady = script.timedParks.size() == 3;
        events.notifyAll();
    };
    EXPECT_TRUE(events.awaitUntil(readiness(), at(100)));
    EXPECT_EQ(script.timedParks, (std::vector<Script::Time>{100ns, 80ns, 60ns}));
    EXPECT_EQ(looks, 6) << "after each of three announcements and of three notifications";
}

TEST_F(EventCountAwaitTest, TimedHasALastLookAtTheDeadline) {
    script.onPark = [this] {
        script.now = 100ns;
        isReady = true;
    };
    EXPECT_TRUE(events.awaitUntil(readiness(), at(100)));
}

#if defined(__cpp_exceptions)
TEST_F(EventCountAwaitTest, ThrowingConditionTakesItsAnnouncementBack) {
    const auto throwing = []() -> bool { throw std::runtime_error("from ready"); };
    EXPECT_THROW(events.await(throwing), std::runtime_error);
    EXPECT_THROW((void)events.awaitUntil(throwing, at(100)), std::runtime_error);
    EXPECT_EQ(script.heavyFences, 2) << "both were announced";
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(EventCountAwaitTest, ConditionThatThrowsAfterASleepTakesItsAnnouncementBack) {
    script.onPark = [this] { events.notifyAll(); };
    const auto throwingLater = [this]() -> bool {
        return ++looks == 2 ? throw std::runtime_error("from ready") : false;
    };
    EXPECT_THROW(events.await(throwingLater), std::runtime_error);
    EXPECT_EQ(script.parks, 1);
    EXPECT_TRUE(nobodyIsAnnounced());
}
#endif

// ---- real threads

template <class Parker>
class EventCountThreadsTest : public testing::Test {
protected:
    BasicEventCount<StdPlatform, Parker> events;
};

#if defined(__linux__)
using Parkers = testing::Types<detail::FutexParker, detail::CondVarParker>;
#else
using Parkers = testing::Types<detail::CondVarParker>;
#endif

struct ParkerNames {
    template <class Parker>
    static std::string GetName(int) {
        return std::is_same_v<Parker, detail::CondVarParker> ? "CondVar" : "Futex";
    }
};
TYPED_TEST_SUITE(EventCountThreadsTest, Parkers, ParkerNames);

// Only the notification itself orders the write before the read.
TYPED_TEST(EventCountThreadsTest, WaitSeesWhatWasWrittenBeforeTheNotification) {
    for (int round = 1; round <= 200; ++round) {
        int data = 0;
        std::atomic<bool> isAnnounced{false};
        std::thread notifier([&] {
            while (!isAnnounced.load(std::memory_order_relaxed)) {
                std::this_thread::yield();
            }
            data = round;
            this->events.notifyAll();
        });
        const auto key = this->events.prepareWait();
        isAnnounced.store(true, std::memory_order_relaxed);
        this->events.wait(key);
        EXPECT_EQ(data, round);
        notifier.join();
    }
}

TYPED_TEST(EventCountThreadsTest, OneNotificationWakesEverybody) {
    constexpr int sleepers = 6;
    std::atomic<int> announced{0};
    std::vector<std::thread> crew;
    for (int i = 0; i < sleepers; ++i) {
        crew.emplace_back([&, isTimed = i % 2 == 1] {
            const auto key = this->events.prepareWait();
            announced.fetch_add(1, std::memory_order_relaxed);
            if (isTimed) {
                EXPECT_TRUE(this->events.waitUntil(key, StdPlatform::Clock::now() + 1h));
            } else {
                this->events.wait(key);
            }
        });
    }
    while (announced.load(std::memory_order_relaxed) != sleepers) {
        std::this_thread::yield();
    }
    this->events.notifyAll();
    for (std::thread& thread : crew) {
        thread.join();
    }
}

TYPED_TEST(EventCountThreadsTest, TimedWaitLastsUntilItsDeadline) {
    const auto deadline = StdPlatform::Clock::now() + 20ms;
    EXPECT_FALSE(this->events.waitUntil(this->events.prepareWait(), deadline));
    EXPECT_GE(StdPlatform::Clock::now(), deadline);
}

}  // namespace
}  // namespace sluice
