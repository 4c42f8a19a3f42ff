#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/event_count.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;
using Events = BasicEventCount<test::ScriptedPlatform, test::ScriptedParker>;

static_assert(std::is_nothrow_default_constructible_v<EventCount>);
static_assert(!std::is_copy_constructible_v<EventCount> && !std::is_copy_assignable_v<EventCount>);
static_assert(std::is_copy_constructible_v<EventCount::Key>);
static_assert(!std::is_default_constructible_v<EventCount::Key>);
static_assert(std::is_same_v<EventCount::Clock, StdPlatform::Clock>);
#if defined(__linux__)
static_assert(sizeof(EventCount) <= 16, "a futex needs no state beside the word");
#endif

// Single-threaded: the script's hooks do the work of other threads.
class EventCountTest : public testing::Test {
protected:
    int unparksOfOneNotification() {
        const int before = script.unparks;
        events.notifyAll();
        return script.unparks - before;
    }

    // Falling asleep where nothing would ever wake the thread would hang the test.
    void failWhenAsleep() {
        script.onPark = [this] {
            ADD_FAILURE() << "fell asleep";
            events.notifyAll();
        };
    }

    Script script;
    Events events;
    bool isReady = false;
};

// ---- prepareWait

TEST_F(EventCountTest, AThreadThatJoinsOthersMakesNoHeavyFence) {
    const auto first = events.prepareWait();
    const auto second = events.prepareWait();
    EXPECT_EQ(script.heavyFences, 1);
    (void)events.cancelWait(first);
    (void)events.cancelWait(events.prepareWait());
    EXPECT_EQ(script.heavyFences, 1) << "the second one is still there";
    (void)events.cancelWait(second);
    (void)events.cancelWait(events.prepareWait());
    EXPECT_EQ(script.heavyFences, 2) << "nobody was there";
}

TEST_F(EventCountTest, TheFirstThreadAfterANotificationOfAllMakesAFence) {
    (void)events.prepareWait();
    events.notifyAll();
    (void)events.prepareWait();
    EXPECT_EQ(script.heavyFences, 2);
}

// ---- notifyAll

TEST_F(EventCountTest, NotifyingNobodyCallsNoKernel) {
    events.notifyAll();
    events.notifyAll();
    EXPECT_EQ(script.unparks, 0);
    EXPECT_EQ(script.heavyFences, 0);
}

TEST_F(EventCountTest, NotificationsUntilTheWaiterRunsCallNoKernel) {
    const Events::Key key = events.prepareWait();
    EXPECT_EQ(unparksOfOneNotification(), 1);
    EXPECT_EQ(unparksOfOneNotification(), 0);
    EXPECT_EQ(unparksOfOneNotification(), 0);
    events.wait(key);
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(EventCountTest, EachSideHasExactlyOneFence) {
    const Events::Key key = events.prepareWait();
    EXPECT_EQ(script.heavyFences, 1);
    events.notifyAll();
    events.wait(key);
    EXPECT_EQ(script.heavyFences, 1);
    EXPECT_EQ(script.lightFences, 1);
}

// ---- prepareWait, wait, cancelWait

TEST_F(EventCountTest, AThreadThatWasWokenAsksBeforeItAnnouncesItselfAgain) {
    for (const bool isTimed : {false, true}) {
        bool isAwake = false;
        int fences = 0;
        script.onHeavyFence = [&fences] { ++fences; };
        script.onPark = [&] {
            isAwake = true;
            events.notifyAll();
        };
        const auto ready = [&isAwake] { return isAwake; };
        if (isTimed) {
            EXPECT_TRUE(events.awaitUntil(ready, Events::Clock::time_point::max()));
        } else {
            events.await(ready);
        }
        EXPECT_EQ(fences, 1);
    }
}

TEST_F(EventCountTest, NotificationBeforeTheAnnouncementDoesNotCount) {
    events.notifyAll();
    const Events::Key key = events.prepareWait();
    script.onPark = [this] { events.notifyAll(); };
    events.wait(key);
    EXPECT_EQ(script.parks, 1);
}

TEST_F(EventCountTest, SleepsOnThroughSpuriousReturns) {
    script.onPark = [this] {
        if (script.parks == 5) {
            events.notifyAll();
        }
    };
    events.wait(events.prepareWait());
    EXPECT_EQ(script.parks, 5);
}

TEST_F(EventCountTest, CancelledWaiterIsNotWokenUp) {
    events.cancelWait(events.prepareWait());
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(EventCountTest, CancelTakesBackOneAnnouncementOnly) {
    failWhenAsleep();
    const Events::Key stays = events.prepareWait();
    const Events::Key goes = events.prepareWait();
    events.cancelWait(goes);
    EXPECT_EQ(unparksOfOneNotification(), 1);
    events.wait(stays);
}

TEST_F(EventCountTest, CancelDoesNotDisturbOthersWhoWait) {
    const Events::Key sleeper = events.prepareWait();
    int sleeps = 0;
    script.onPark = [&] {
        if (++sleeps == 1) {
            events.cancelWait(events.prepareWait());
        } else {
            events.notifyAll();
        }
    };
    events.wait(sleeper);
    EXPECT_EQ(sleeps, 2) << "a cancellation is no notification";
}

TEST_F(EventCountTest, CancelAfterTheNotificationLeavesLaterWaitersAlone) {
    failWhenAsleep();
    const Events::Key notified = events.prepareWait();
    events.notifyAll();
    const Events::Key later = events.prepareWait();
    events.cancelWait(notified);
    EXPECT_EQ(unparksOfOneNotification(), 1) << "the later waiter's announcement was taken back";
    events.wait(later);
}

// ---- waitUntil

TEST_F(EventCountTest, TimedSleepGivesTheParkerWhatIsLeft) {
    script.onPark = [this] { script.now += 30ns; };
    EXPECT_FALSE(events.waitUntil(events.prepareWait(), at(100)));
    EXPECT_EQ(script.timedParks, (std::vector<Script::Time>{100ns, 70ns, 40ns, 10ns}));
}

TEST_F(EventCountTest, TimedWaiterThatGaveUpIsNotWokenUp) {
    script.onPark = [this] { script.now += 100ns; };
    EXPECT_FALSE(events.waitUntil(events.prepareWait(), at(100)));
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(EventCountTest, NotificationEndsATimedSleep) {
    script.onPark = [this] { events.notifyAll(); };
    EXPECT_TRUE(events.waitUntil(events.prepareWait(), at(100)));
    EXPECT_EQ(script.timedParks.size(), 1U);
}

TEST_F(EventCountTest, NotificationJustBeforeGivingUpCounts) {
    script.onClockReading = [this] {
        script.now = 100ns;
        events.notifyAll();
    };
    EXPECT_TRUE(events.waitUntil(events.prepareWait(), at(100)));
    EXPECT_TRUE(script.timedParks.empty());
}

TEST_F(EventCountTest, DeadlineInThePastDoesNotSleep) {
    script.now = 1000ns;
    for (const auto deadline : {at(1000), at(0), at(-1000), Events::Clock::time_point::min()}) {
        EXPECT_FALSE(events.waitUntil(events.prepareWait(), deadline));
    }
    EXPECT_TRUE(script.timedParks.empty());
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(EventCountTest, LatestDeadlineNeverPasses) {
    script.now = 1000ns;
    script.onPark = [this] { events.notifyAll(); };
    EXPECT_TRUE(events.waitUntil(events.prepareWait(), Events::Clock::time_point::max()));
    EXPECT_EQ(script.timedParks.size(), 1U);
}

// ---- await, awaitUntil

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

// ---- notifyOne

static_assert(detail::canNotifyOne<Park> && detail::canNotifyOne<BusySpin> &&
              detail::canNotifyOne<SpinThenYield>);

class NotifyOneTest : public testing::Test {
protected:
    int unparksOfOneNotification() {
        const int before = script.unparks;
        events.notifyOne();
        return script.unparks - before;
    }
    /// The time of the script is later.
    bool isNotified(Events::Key key) { return events.waitUntil(key, at(0)); }

    Script script;
    Events events;
};

TEST_F(NotifyOneTest, NotifyingNobodyCallsNoKernel) {
    EXPECT_EQ(unparksOfOneNotification(), 0);
    (void)events.cancelWait(events.prepareWait());
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(NotifyOneTest, WakesOneWaiterForEachNotification) {
    const Events::Key first = events.prepareWait();
    const Events::Key second = events.prepareWait();
    const Events::Key third = events.prepareWait();
    EXPECT_EQ(unparksOfOneNotification(), 1);
    EXPECT_EQ(unparksOfOneNotification(), 1);
    EXPECT_TRUE(isNotified(first));
    EXPECT_TRUE(isNotified(second));
    EXPECT_FALSE(isNotified(third));
}

TEST_F(NotifyOneTest, NotificationDoesNotLastUntilTheNextAnnouncement) {
    EXPECT_TRUE((events.notifyOne(), true));
    EXPECT_FALSE(isNotified(events.prepareWait()));
    const Events::Key key = events.prepareWait();
    events.notifyOne();
    events.notifyOne();
    EXPECT_TRUE(isNotified(key));
    EXPECT_FALSE(isNotified(events.prepareWait()));
}

TEST_F(NotifyOneTest, WaiterThatGoesAwayLeavesTheWakeUpToAnother) {
    const Events::Key first = events.prepareWait();
    const Events::Key second = events.prepareWait();
    events.notifyOne();
    EXPECT_FALSE(events.cancelWait(first));
    EXPECT_TRUE(isNotified(second));
}

TEST_F(NotifyOneTest, LastWaiterThatGoesAwayLearnsThatItWasNotified) {
    const Events::Key key = events.prepareWait();
    events.notifyOne();
    EXPECT_TRUE(events.cancelWait(key));
    EXPECT_FALSE(isNotified(events.prepareWait()));
}

TEST_F(NotifyOneTest, NotifyAllReachesThoseThatNotifyOneLeft) {
    const Events::Key first = events.prepareWait();
    const Events::Key second = events.prepareWait();
    events.notifyOne();
    events.notifyAll();
    EXPECT_TRUE(isNotified(first));
    EXPECT_TRUE(isNotified(second));
    EXPECT_FALSE(isNotified(events.prepareWait()));
}

#if defined(__cpp_exceptions)
TEST_F(NotifyOneTest, ConditionThatThrowsAfterASleepWakesAnother) {
    const Events::Key other = events.prepareWait();
    script.onPark = [this] { events.notifyOne(); };
    int looks = 0;
    const auto throwingLater = [&]() -> bool {
        return ++looks == 2 ? throw std::runtime_error("from ready") : false;
    };
    EXPECT_THROW(events.await(throwingLater), std::runtime_error);
    EXPECT_EQ(script.unparks, 2);
    EXPECT_TRUE(isNotified(other));
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

TYPED_TEST(EventCountThreadsTest, AsManyWaitsEndAsThereWereNotifications) {
    constexpr int sleepers = 6;
    std::atomic<int> announced{0};
    std::atomic<int> awake{0};
    std::vector<std::thread> crew;
    for (int i = 0; i < sleepers; ++i) {
        crew.emplace_back([&] {
            const auto key = this->events.prepareWait();
            announced.fetch_add(1, std::memory_order_release);
            this->events.wait(key);
            awake.fetch_add(1, std::memory_order_release);
        });
    }
    while (announced.load(std::memory_order_acquire) != sleepers) {
        std::this_thread::yield();
    }
    for (int i = 1; i <= sleepers; ++i) {
        this->events.notifyOne();
        while (awake.load(std::memory_order_acquire) < i) {
            std::this_thread::yield();
        }
        EXPECT_EQ(awake.load(std::memory_order_acquire), i);
    }
    for (std::thread& thread : crew) {
        thread.join();
    }
}

// ---- deadlineAfter

struct StoppedClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<StoppedClock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() noexcept { return time_point(1000ns); }
};

constexpr auto now = StoppedClock::time_point(1000ns);
constexpr auto never = StoppedClock::time_point::max();

TEST(DeadlineTest, LiesAheadByTheDuration) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(5us), now + 5us);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::duration<double, std::nano>(0.25)),
              now + 1ns)
        << "rounded up, so that nobody waits too short";
}

TEST(DeadlineTest, NothingAndLessIsNow) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(0s), now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(-1h), now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::hours::min()), now);
}

TEST(DeadlineTest, LongestDurationsDoNotOverflow) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::hours::max()), never);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::nanoseconds::max()), never);
    EXPECT_EQ(deadlineAfter<StoppedClock>(
                  std::chrono::duration<double>(std::numeric_limits<double>::infinity())),
              never);
}

TEST(DeadlineTest, AFloatThatIsRoundedBeyondTheEndDoesNotOverflow) {
    EXPECT_EQ(deadlineAfter(StoppedClock::time_point(), std::chrono::duration<float>(9223371776.F)),
              never);
    const std::chrono::duration<float> rest(never - now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(rest), never);
}

TEST(DeadlineTest, BeginsBeforeTheEpochToo) {
    constexpr auto early = StoppedClock::time_point(-1s);
    EXPECT_EQ(deadlineAfter(early, 5s), StoppedClock::time_point(4s));
    EXPECT_EQ(deadlineAfter(StoppedClock::time_point::min(), 5s),
              StoppedClock::time_point::min() + 5s);
    EXPECT_EQ(deadlineAfter(early, std::chrono::hours::max()), never);
}

}  // namespace
}  // namespace sluice
