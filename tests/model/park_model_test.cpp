#include "support/model/expectations.hpp"

#include <sluice/wait/park.hpp>

#include "support/testing.hpp"

// Park as shipped, on the futex of the model. A lost wake-up shows as a schedule in
// which nobody can go on. The sleeper relies on edge E1. A waiter that goes by the notification
// alone relies on edge E2.

namespace sluice::model {
namespace {

template <class Parker = ModelParker>
struct ParkWithSteps : BasicPark<ModelPlatform, Parker> {
    using BasicPark<ModelPlatform, Parker>::announce;
    using BasicPark<ModelPlatform, Parker>::BasicPark;
    using BasicPark<ModelPlatform, Parker>::cancelWait;
    using BasicPark<ModelPlatform, Parker>::sleepUntil;
};
using Events = ParkWithSteps<>;

void oneWaiterOneNotifier() {
    Events events{{0, 0}};
    Plain<int> data;
    Atomic<int> isReady{0};
    parallel([&] { events.wait([&] { return isReady.load(acquire) == 1; }), (void)data.get(); },
             [&] {
                 data.set(1);
                 isReady.store(1, release);
                 events.notifyAll();
             });
}

void twoWaiters() {
    Events events{{0, 0}};
    Atomic<int> isReady{0};
    const auto await = [&] { events.wait([&] { return isReady.load(acquire) == 1; }); };
    parallel(await, await, [&] { isReady.store(1, release), events.notifyAll(); });
}

/// The waiter needs both, and may be woken by either.
void twoNotifiers() {
    Events events{{0, 0}};
    Atomic<int> count{0};
    const auto add = [&] { (void)count.fetch_add(1, release), events.notifyAll(); };
    parallel([&] { events.wait([&] { return count.load(acquire) == 2; }); }, add, add);
}

/// Each waits for the other in turn, on one event count.
void takingTurns() {
    Events events{{0, 0}};
    Atomic<int> turn{0};
    parallel(
        [&] {
            turn.store(1, release);
            events.notifyAll();
            events.wait([&] { return turn.load(acquire) == 2; });
        },
        [&] {
            events.wait([&] { return turn.load(acquire) == 1; });
            turn.store(2, release);
            events.notifyAll();
        });
}

/// A waiter that goes away again does not take the place of one that stays.
void oneCancels() {
    Events events{{0, 0}};
    Atomic<int> isReady{0};
    parallel([&] { events.wait([&] { return isReady.load(acquire) == 1; }); },
             [&] { events.cancelWait(events.announce()); },
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
        holdTheFirst();
        ModelParker::unparkAll(word, site);
    }
    void unparkOne(const Atomic<std::uint64_t>& word, Site site = Site::here()) {
        holdTheFirst();
        ModelParker::unparkOne(word, site);
    }

private:
    static void holdTheFirst() {
        if (hold->isReached.load(relaxed) == 0) {
            hold->isReached.store(1, release);
            while (hold->isOver.load(acquire) == 0) {
                ModelPlatform::pause();
            }
        }
    }
};

/// The second notifier comes while the first one is stopped, and wakes the waiter all the same.
template <class Notify>
void firstNotifierIsStopped(Notify notify) {
    BasicPark<ModelPlatform, HoldingParker> events{{0, 0}};
    Hold here;
    hold = &here;
    Atomic<int> count{0};
    parallel(
        [&] {
            events.wait([&] { return count.load(acquire) == 2; });
            here.isOver.store(1, release);
        },
        [&] {
            (void)count.fetch_add(1, release);
            notify(events);
            here.isReached.store(1, release);
        },
        [&] {
            while (here.isReached.load(acquire) == 0) {
                ModelPlatform::pause();
            }
            (void)count.fetch_add(1, release);
            notify(events);
        });
}

constexpr auto notifyOne = [](auto& events) { events.notifyOne(); };
constexpr auto notifyAll = [](auto& events) { events.notifyAll(); };

/// Work for threads that wait on one event count, each piece for one of them.
struct Work {
    Events events{{0, 0}};
    Atomic<int> pieces{0};

    void add() {
        (void)pieces.fetch_add(1, release);
        events.notifyOne();
    }
    bool tryTake() {
        int seen = pieces.load(relaxed);
        while (seen > 0) {
            if (pieces.compare_exchange_strong(seen, seen - 1, acquire, relaxed)) {
                return true;
            }
        }
        return false;
    }
    void take() {
        events.wait([this] { return tryTake(); });
    }
};

void eachPieceOfWorkWakesOne() {
    Work work;
    parallel([&] { work.take(); }, [&] { work.take(); }, [&] { work.add(), work.add(); });
}

/// The same with a slot for each piece. A waiter that comes when each other one has a permit sees
/// the second piece, or is notified of it.
void eachSlotWakesOne() {
    Events events{{0, 0}};
    Atomic<int> first{0};
    Atomic<int> second{0};
    const auto isTaken = [](Atomic<int>& slot) {
        return slot.load(acquire) == 1 && slot.exchange(0, acquire) == 1;
    };
    const auto take = [&] { events.wait([&] { return isTaken(first) || isTaken(second); }); };
    parallel(take, take, [&] {
        first.store(1, release), events.notifyOne();
        second.store(1, release), events.notifyOne();
    });
}

void twoNotifiersOfOne() {
    Work work;
    parallel([&] { work.take(), work.take(); }, [&] { work.add(); }, [&] { work.add(); });
}

/// A waiter that gives up leaves its wake-up to the other one.
void oneGivesUp() {
    using namespace std::chrono_literals;
    Work work;
    parallel([&] { work.take(); },
             [&] {
                 if (work.events.waitUntil([&] { return work.tryTake(); },
                                           ModelPlatform::Clock::now() + 5ms)) {
                     work.add();
                 }
             },
             [&] { work.add(); });
}

/// A thread that announced itself and goes away leaves the wake-up, or learns that it has it.
void oneGoesAway() {
    Work work;
    parallel([&] { work.take(); },
             [&] {
                 if (work.events.cancelWait(work.events.announce())) {
                     work.events.notifyOne();
                 }
             },
             [&] { work.add(); });
}

/// One for a piece of work, all for the end.
void theEndReachesAll() {
    Work work;
    Atomic<int> isOver{0};
    const auto takeToTheEnd = [&] {
        work.events.wait([&] {
            const bool wasOver = isOver.load(acquire) == 1;
            (void)work.tryTake();
            return wasOver;
        });
    };
    parallel(takeToTheEnd, takeToTheEnd, [&] {
        work.add();
        isOver.store(1, release);
        work.events.notifyAll();
    });
    check(work.pieces.load(relaxed) == 0, "no work is left");
}

/// A write before the notification is visible after the wait that the notification ended.
template <class Notify>
void waitTellsWhatWasNotified(Notify notify) {
    Events events{{0, 0}};
    Plain<int> data;
    Atomic<int> isReady{0};
    parallel(
        [&] {
            const auto epoch = events.announce();
            if (isReady.load(relaxed) == 1) {
                (void)events.cancelWait(epoch);
            } else {
                (void)events.sleepUntil(epoch, ModelPlatform::Clock::time_point::max());
                check(data.get() == 1, "nobody else notifies");
            }
        },
        [&] {
            data.set(1);
            isReady.store(1, relaxed);
            notify(events);
        });
}

void waitTellsWhatAllWereTold() {
    waitTellsWhatWasNotified(notifyAll);
}
void waitTellsWhatOneWasTold() {
    waitTellsWhatWasNotified(notifyOne);
}

void limitedWait() {
    using namespace std::chrono_literals;
    Events events{{0, 0}};
    Atomic<int> isReady{0};
    parallel(
        [&] {
            const auto deadline = ModelPlatform::Clock::now() + 5ms;
            const bool inTime =
                events.waitUntil([&] { return isReady.load(acquire) == 1; }, deadline);
            check(inTime || ModelPlatform::Clock::now() >= deadline, "not before the deadline");
        },
        [&] { isReady.store(1, release), events.notifyAll(); });
}

void limitedWaitForNothing() {
    using namespace std::chrono_literals;
    Events events{{0, 0}};
    parallel([&] {
        const auto deadline = ModelPlatform::Clock::now() + 5ms;
        check(!events.waitUntil([] { return false; }, deadline), "nothing ever happens");
        check(ModelPlatform::Clock::now() >= deadline, "not before the deadline");
    });
}

TEST(ParkModelTest, NoWakeUpIsLost) {
    EXPECT_TRUE(holds(oneWaiterOneNotifier));
    EXPECT_TRUE(holds(twoWaiters));
    EXPECT_TRUE(holds(twoNotifiers));
    EXPECT_TRUE(holds(takingTurns));
    EXPECT_TRUE(holds(oneCancels));
}

TEST(ParkModelTest, AStoppedNotifierDelaysNoWaiterThatALaterOneNotifies) {
    EXPECT_TRUE(holds([] { firstNotifierIsStopped(notifyAll); }));
    EXPECT_TRUE(holds([] { firstNotifierIsStopped(notifyOne); }));
}

TEST(ParkModelTest, AWakeUpOfOneIsNeverLost) {
    EXPECT_TRUE(holds(eachPieceOfWorkWakesOne));
    EXPECT_TRUE(holds(eachSlotWakesOne));
    EXPECT_TRUE(holds(twoNotifiersOfOne));
    EXPECT_TRUE(holds(oneGivesUp));
    EXPECT_TRUE(holds(oneGoesAway));
    Options many;
    many.maxExecutions = cap(800000);
    EXPECT_TRUE(holds(theEndReachesAll, many));
}

TEST(ParkModelTest, ANotificationCarriesWhatWasWrittenBefore) {
    EXPECT_TRUE(holds(waitTellsWhatAllWereTold));
    EXPECT_TRUE(holds(waitTellsWhatOneWasTold));
}

TEST(ParkModelTest, WaitsWithALimitEnd) {
    EXPECT_TRUE(holds(limitedWait));
    EXPECT_TRUE(holds(limitedWaitForNothing));
}

TEST(ParkModelTest, EveryOrderIsNeededButTwo) {
    // Both matter only when several waiters take the permits of several notifiers.
    EXPECT_TRUE(survive({"leave: compare acquire -> relaxed", "leave: update acquire -> relaxed"},
                        ordersOf("park.hpp", {},
                                 {waitTellsWhatAllWereTold, waitTellsWhatOneWasTold,
                                  oneWaiterOneNotifier, oneCancels, oneGoesAway})));
}

TEST(ParkModelTest, SleepsOnlyUntilNotified) {
    EXPECT_TRUE(holds([] {
        Events::Options options;
        options.spins = 1;
        options.yields = 1;
        Events park(options);
        Atomic<int> isReady{0};
        parallel([&] { park.wait([&] { return isReady.load(acquire) == 1; }); },
                 [&] { isReady.store(1, release), park.notifyAll(); });
    }));
}

}  // namespace
}  // namespace sluice::model
