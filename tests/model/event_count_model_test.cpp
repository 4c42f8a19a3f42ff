#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/wait/event_count.hpp>
#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>

// EventCount and Park as shipped, on the futex of the model. A lost wake-up shows as a schedule in
// which nobody can go on. Edge E1 is what the sleeper relies on, E2 what a waiter relies on that
// goes by the notification alone.

namespace sluice::model {
namespace {

using Events = BasicEventCount<ModelPlatform, ModelParker>;
using ParkInModel = BasicPark<ModelPlatform, ModelParker>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

void oneWaiterOneNotifier() {
    Events events;
    Plain<int> data;
    Atomic<int> isReady{0};
    parallel([&] { events.await([&] { return isReady.load(acquire) == 1; }), (void)data.get(); },
             [&] {
                 data.set(1);
                 isReady.store(1, release);
                 events.notifyAll();
             });
}

void twoWaiters() {
    Events events;
    Atomic<int> isReady{0};
    const auto await = [&] { events.await([&] { return isReady.load(acquire) == 1; }); };
    parallel(await, await, [&] { isReady.store(1, release), events.notifyAll(); });
}

/// The waiter needs both, and may be woken by either.
void twoNotifiers() {
    Events events;
    Atomic<int> count{0};
    const auto add = [&] { (void)count.fetch_add(1, release), events.notifyAll(); };
    parallel([&] { events.await([&] { return count.load(acquire) == 2; }); }, add, add);
}

/// Each waits for the other in turn, on one event count.
void takingTurns() {
    Events events;
    Atomic<int> turn{0};
    parallel(
        [&] {
            turn.store(1, release);
            events.notifyAll();
            events.await([&] { return turn.load(acquire) == 2; });
        },
        [&] {
            events.await([&] { return turn.load(acquire) == 1; });
            turn.store(2, release);
            events.notifyAll();
        });
}

/// A waiter that goes away again does not take the place of one that stays.
void oneCancels() {
    Events events;
    Atomic<int> isReady{0};
    parallel([&] { events.await([&] { return isReady.load(acquire) == 1; }); },
             [&] { events.cancelWait(events.prepareWait()); },
             [&] { isReady.store(1, release), events.notifyAll(); });
}

/// Where the first notifier of an execution is held, on its way to wake the waiters.
struct Hold {
    Atomic<int> isReached{0};
    Atomic<int> isOver{0};
};
Hold* hold = nullptr;

class HoldingParker : public ModelParker {
public:
    void unparkAll(const Atomic<std::uint64_t>& word, Site site = Site::here()) {
        if (hold->isReached.load(relaxed) == 0) {
            hold->isReached.store(1, release);
            while (hold->isOver.load(acquire) == 0) {
                ModelPlatform::pause();
            }
        }
        ModelParker::unparkAll(word, site);
    }
};

/// The second notifier comes while the first one is stopped, and wakes the waiter all the same.
void firstNotifierIsStopped() {
    BasicEventCount<ModelPlatform, HoldingParker> events;
    Hold here;
    hold = &here;
    Atomic<int> count{0};
    parallel(
        [&] {
            events.await([&] { return count.load(acquire) == 2; });
            here.isOver.store(1, release);
        },
        [&] {
            (void)count.fetch_add(1, release);
            events.notifyAll();
            here.isReached.store(1, release);
        },
        [&] {
            while (here.isReached.load(acquire) == 0) {
                ModelPlatform::pause();
            }
            (void)count.fetch_add(1, release);
            events.notifyAll();
        });
}

/// What was written before the notification is visible after a wait that it ended.
void waitTellsWhatWasNotified() {
    Events events;
    Plain<int> data;
    Atomic<int> isReady{0};
    parallel(
        [&] {
            const auto key = events.prepareWait();
            if (isReady.load(relaxed) == 1) {
                events.cancelWait(key);
            } else {
                events.wait(key);
                check(data.get() == 1, "nobody else notifies");
            }
        },
        [&] {
            data.set(1);
            isReady.store(1, relaxed);
            events.notifyAll();
        });
}

void limitedWait() {
    using namespace std::chrono_literals;
    Events events;
    Atomic<int> isReady{0};
    parallel(
        [&] {
            const auto deadline = ModelPlatform::Clock::now() + 5ms;
            const bool inTime =
                events.awaitUntil([&] { return isReady.load(acquire) == 1; }, deadline);
            check(inTime || ModelPlatform::Clock::now() >= deadline, "not before the deadline");
        },
        [&] { isReady.store(1, release), events.notifyAll(); });
}

void limitedWaitForNothing() {
    using namespace std::chrono_literals;
    Events events;
    parallel([&] {
        const auto deadline = ModelPlatform::Clock::now() + 5ms;
        check(!events.awaitUntil([] { return false; }, deadline), "nothing ever happens");
        check(ModelPlatform::Clock::now() >= deadline, "not before the deadline");
    });
}

TEST(EventCountModelTest, NoWakeUpIsLost) {
    EXPECT_TRUE(holds(oneWaiterOneNotifier));
    EXPECT_TRUE(holds(twoWaiters));
    EXPECT_TRUE(holds(twoNotifiers));
    EXPECT_TRUE(holds(takingTurns));
    EXPECT_TRUE(holds(oneCancels));
}

TEST(EventCountModelTest, AStoppedNotifierDelaysNoWaiterThatALaterOneNotifies) {
    EXPECT_TRUE(holds(firstNotifierIsStopped));
}

TEST(EventCountModelTest, ANotificationCarriesWhatWasWrittenBefore) {
    EXPECT_TRUE(holds(waitTellsWhatWasNotified));
}

TEST(EventCountModelTest, WaitsWithALimitEnd) {
    EXPECT_TRUE(holds(limitedWait));
    EXPECT_TRUE(holds(limitedWaitForNothing));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(EventCountModelTest, EveryOrderIsNeededButOne) {
    // A notifier learns nothing from the notifiers and waiters before it.
    EXPECT_TRUE(survive(
        {"wake: update acq_rel -> release"},
        surveyOrders("event_count.hpp", {}, {waitTellsWhatWasNotified, oneWaiterOneNotifier})));
}
#endif

TEST(ParkModelTest, SleepsOnlyUntilNotified) {
    EXPECT_TRUE(holds([] {
        ParkInModel::Options options;
        options.spins = 1;
        options.yields = 1;
        ParkInModel park(options);
        Atomic<int> isReady{0};
        parallel([&] { park.wait([&] { return isReady.load(acquire) == 1; }); },
                 [&] { isReady.store(1, release), park.notifyAll(); });
    }));
}

}  // namespace
}  // namespace sluice::model
