#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/event_count.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
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

TEST_F(EventCountTest, OneNotificationServesAllAnnouncedWaiters) {
    failWhenAsleep();
    const Events::Key first = events.prepareWait();
    const Events::Key second = events.prepareWait();
    events.notifyAll();
    EXPECT_EQ(script.unparks, 1);
    events.wait(first);
    events.wait(second);
}

TEST_F(EventCountTest, NotificationsUntilTheWaiterRunsCallNoKernel) {
    const Events::Key key = events.prepareWait();
    EXPECT_EQ(unparksOfOneNotification(), 1);
    EXPECT_EQ(unparksOfOneNotification(), 0);
    EXPECT_EQ(unparksOfOneNotification(), 0);
    events.wait(key);
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(EventCountTest, NotifierLooksForWaitersAfterItsFence) {
    std::optional<Events::Key> key;
    script.onLightFence = [&] { key.emplace(events.prepareWait()); };
    events.notifyAll();
    EXPECT_EQ(script.unparks, 1) << "a waiter that announced itself before the fence was missed";
}

TEST_F(EventCountTest, WaiterAnnouncesItselfBeforeItsFence) {
    int unparks = 0;
    script.onHeavyFence = [&] { unparks = unparksOfOneNotification(); };
    const Events::Key key = events.prepareWait();
    EXPECT_EQ(unparks, 1) << "a notification after the fence does not see the waiter";
    failWhenAsleep();
    events.wait(key);
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

TEST_F(EventCountTest, NotificationBetweenAnnouncementAndSleepIsNotLost) {
    failWhenAsleep();
    const Events::Key key = events.prepareWait();
    events.notifyAll();
    events.wait(key);
    EXPECT_EQ(script.parks, 0);
}

TEST_F(EventCountTest, NotificationBeforeTheAnnouncementDoesNotCount) {
    events.notifyAll();
    const Events::Key key = events.prepareWait();
    script.onPark = [this] { events.notifyAll(); };
    events.wait(key);
    EXPECT_EQ(script.parks, 1);
}

TEST_F(EventCountTest, NotificationOfAnEarlierWaitDoesNotCount) {
    const Events::Key earlier = events.prepareWait();
    events.notifyAll();
    events.wait(earlier);
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

TEST_F(EventCountTest, CancelAfterTheNotificationLeavesNothingBehind) {
    const Events::Key notified = events.prepareWait();
    events.notifyAll();
    events.cancelWait(notified);
    EXPECT_EQ(unparksOfOneNotification(), 0);
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

TEST_F(EventCountTest, NotificationCountsMoreThanAPassedDeadline) {
    script.now = 1000ns;
    const Events::Key key = events.prepareWait();
    events.notifyAll();
    EXPECT_TRUE(events.waitUntil(key, at(100)));
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
    for (const auto deadline : {at(1000), at(999), at(0), at(-1000)}) {
        EXPECT_FALSE(events.waitUntil(events.prepareWait(), deadline));
    }
    EXPECT_TRUE(script.timedParks.empty());
    EXPECT_EQ(unparksOfOneNotification(), 0);
}

TEST_F(EventCountTest, EarliestDeadlineIsInThePast) {
    script.now = 1000ns;
    script.onPark = [this] { events.notifyAll(); };
    EXPECT_FALSE(events.waitUntil(events.prepareWait(), Events::Clock::time_point::min()));
    EXPECT_TRUE(script.timedParks.empty());
}

TEST_F(EventCountTest, LatestDeadlineNeverPasses) {
    script.now = 1000ns;
    script.onPark = [this] { events.notifyAll(); };
    EXPECT_TRUE(events.waitUntil(events.prepareWait(), Events::Clock::time_point::max()));
    EXPECT_EQ(script.timedParks.size(), 1U);
}

}  // namespace
}  // namespace sluice
