#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/event_count.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using test::at;
using test::Script;
using Events = BasicEventCount<test::ScriptedPlatform, test::ScriptedParker>;

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

TEST_F(NotifyOneTest, NotificationsUntilTheLastWaiterRunsCallNoKernel) {
    const Events::Key key = events.prepareWait();
    EXPECT_EQ(unparksOfOneNotification(), 1);
    EXPECT_EQ(unparksOfOneNotification(), 0);
    EXPECT_TRUE(isNotified(key));
    EXPECT_EQ(unparksOfOneNotification(), 0);
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
class NotifyOneThreadsTest : public testing::Test {
protected:
    BasicEventCount<StdPlatform, Parker> events;
};

#if defined(__linux__)
using Parkers = testing::Types<detail::FutexParker, detail::CondVarParker>;
#else
using Parkers = testing::Types<detail::CondVarParker>;
#endif
TYPED_TEST_SUITE(NotifyOneThreadsTest, Parkers);

TYPED_TEST(NotifyOneThreadsTest, AsManyWaitsEndAsThereWereNotifications) {
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

}  // namespace
}  // namespace sluice
