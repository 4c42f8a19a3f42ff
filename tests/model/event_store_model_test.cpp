#include "support/model/expectations.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/event_store.hpp>
#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

// The store of an EventQueue as shipped, with its lock and its waits, under the model checker: a
// lost wake-up shows as a schedule in which nobody can go on.

namespace sluice::model {
namespace {

struct ModelThreading {
    using Platform = ModelPlatform;
    using Mutex = BasicSpinLock<ModelPlatform>;
    using Wait = SleepAtOnce;
};

using Store = detail::EventStore<Message, detail::NodeList<Message>, ModelThreading>;
using Batch = Store::Batch;
using Amount = Batch::Amount;

/// Adds an event in the way of plain values or of foreign ones. Both make the same message here.
template <Store::Content How = Store::Content::foreign>
SendResult add(Store& store, Ledger& ledger, int number) {
    const SendResult result = store.add<How>([&] { return Message(number, ledger); });
    ledger.accepted += result == SendResult::ok ? 1 : 0;
    return result;
}

/// Takes out the events that are there, and reads them.
int harvest(Store& store, Amount amount = Amount::all) {
    int count = 0;
    Batch events(store, amount);
    for (; events.hasNext(); events.drop()) {
        (void)events.front().number();
        ++count;
    }
    return count;
}

void waitForEvent(Store& store) {
    store.arrived().wait([&] { return store.isReady(); });
}

template <Store::Content How>
void addWakesWaiter() {
    Ledger ledger;
    Store store;
    parallel([&] { check(add<How>(store, ledger, 0) == SendResult::ok, "room"); },
             [&] {
                 waitForEvent(store);
                 check(harvest(store) == 1, "it waited for an event");
             });
}

void twoProducers() {
    Ledger ledger;
    int delivered = 0;
    {
        Store store;
        parallel([&] { (void)add<Store::Content::plain>(store, ledger, 0); },
                 [&] { (void)add(store, ledger, 1); },
                 [&] {
                     while (delivered < 2) {
                         waitForEvent(store);
                         delivered += harvest(store);
                     }
                 });
    }
    check(delivered == 2 && ledger.alive == 0, "nothing is lost");
}

void twoConsumers() {
    Ledger ledger;
    int delivered[2] = {0, 0};
    Store store;
    (void)add(store, ledger, 0);
    (void)add(store, ledger, 1);
    parallel([&] { delivered[0] = harvest(store, Amount::one); },
             [&] { delivered[1] = harvest(store); });
    check(delivered[0] + delivered[1] == 2, "each event goes to one of them");
}

/// An event is added while the store is silent, or when it is no longer.
template <Store::Content How>
void silence() {
    Ledger ledger;
    Store store;
    store.silence();
    parallel([&] { store.unsilence(); }, [&] { (void)add<How>(store, ledger, 0); },
             [&] {
                 waitForEvent(store);
                 check(store.isNotifying(), "the silence has ended");
                 check(harvest(store) == 1, "it waited for an event");
             });
}

/// The consumer's loop: it returns when the store is closed, with all that was accepted.
void close() {
    Ledger ledger;
    int delivered = 0;
    {
        Store store;
        parallel([&] { (void)add(store, ledger, 0); }, [&] { store.close(); },
                 [&] {
                     while (store.awaitWork()) {
                         delivered += harvest(store);
                     }
                 });
    }
    check(delivered == ledger.accepted, "what was accepted was delivered");
}

void closeEndsTheWaitForRoom() {
    Ledger ledger;
    Store store({1, Overflow::block});
    (void)add(store, ledger, 0);
    parallel([&] { check(add(store, ledger, 1) == SendResult::closed, "nobody makes room"); },
             [&] { store.close(); });
}

void room() {
    Ledger ledger;
    Store store({1, Overflow::block});
    int delivered = 0;
    parallel(
        [&] {
            check(add(store, ledger, 0) == SendResult::ok, "there is room");
            check(add(store, ledger, 1) == SendResult::ok, "there will be");
        },
        [&] {
            while (delivered < 2) {
                waitForEvent(store);
                delivered += harvest(store);
            }
        });
}

/// The consumer makes room for one after the other and wakes one each time, or for both.
template <Amount How>
void roomForTwo() {
    Ledger ledger;
    Store store({2, Overflow::block});
    (void)add<Store::Content::plain>(store, ledger, 0);
    (void)add<Store::Content::plain>(store, ledger, 1);
    const auto produce = [&] {
        check(add<Store::Content::plain>(store, ledger, 2) == SendResult::ok, "there will be room");
    };
    parallel(produce, produce, [&] {
        for (int left = 2; left > 0; left -= harvest(store, How)) {
        }
    });
}

void drain() {
    Ledger ledger;
    Store store;
    Plain<int> handled;
    parallel(
        [&] {
            (void)add(store, ledger, 0);
            store.changed().wait([&] { return !store.isBusy(); });
            check(handled.get() == 1, "drained means handled");
        },
        [&] {
            waitForEvent(store);
            Batch events(store, Amount::all);
            handled.set(1);
            events.drop();
        });
}

/// A thread may destroy the store after it has waited until the store was no longer busy. The
/// consumer may not have returned yet.
void drainedStoreMayBeDestroyed() {
    Ledger ledger;
    auto* const store = new Store;
    (void)add(*store, ledger, 0);
    parallel(
        [&] {
            store->changed().wait([&] { return !store->isBusy(); });
            delete store;
        },
        [&] { (void)harvest(*store); });
}

void whatComesBackWakesWaiters() {
    Ledger ledger;
    Store store;
    (void)add(store, ledger, 0);
    bool hasHarvested = false;
    parallel(
        [&] {
            Batch events(store, Amount::all);
            if (events.hasNext()) {
                events.keep();
            }
        },
        [&] {
            waitForEvent(store);
            hasHarvested = harvest(store) == 1;
            check(hasHarvested || store.size() == 1 || store.isBusy(), "it is not lost");
        });
    check(hasHarvested || harvest(store) == 1, "it is not lost");
}

/// The event that somebody looks at stays until that has ended.
void peek() {
    Ledger ledger;
    Store store;
    (void)add(store, ledger, 0);
    (void)add(store, ledger, 1);
    int first = -1;
    parallel(
        [&] {
            (void)store.peek([&](const Message& message) {
                (void)message.number();
                first = message.number();
            });
        },
        [&] {
            check(harvest(store, Amount::one) == 1, "a peek does not hide events");
            check(harvest(store, Amount::one) == 1, "a peek does not hide events");
        });
    check(ledger.alive == 0, "no event is kept");
}

void oldestMakesRoom() {
    Ledger ledger;
    int delivered = 0;
    Store store({1, Overflow::dropOldest});
    (void)add<Store::Content::plain>(store, ledger, 0);
    parallel([&] { check(add(store, ledger, 1) == SendResult::ok, "room is made"); },
             [&] { delivered = harvest(store); },
             [&] { (void)store.peek([](const Message& message) { (void)message.number(); }); });
    delivered += harvest(store);
    check(ledger.accepted == 2, "room is made");
    check(delivered + static_cast<int>(store.statistics().discarded) == 2, "exact counts");
    check(ledger.alive == 0, "no event is kept");
}

/// A thread that sees a change without the lock also sees the writes before that change.
void readyTellsWhy() {
    Ledger ledger;
    Store store;
    Plain<int> reason;
    parallel(
        [&] {
            reason.set(1);
            (void)add(store, ledger, 0);
        },
        [&] {
            waitForEvent(store);
            check(reason.get() == 1, "written before the event was added");
        });
}

void soundTellsWhy() {
    Ledger ledger;
    Store store;
    Plain<int> reason;
    (void)add(store, ledger, 0);
    store.silence();
    parallel(
        [&] {
            reason.set(1);
            store.unsilence();
        },
        [&] {
            waitForEvent(store);
            check(reason.get() == 1, "written before the silence ended");
        });
}

void closedTellsWhy() {
    Store store;
    Plain<int> reason;
    parallel(
        [&] {
            reason.set(1);
            store.close();
        },
        [&] {
            if (store.isClosed()) {
                check(reason.get() == 1, "written before close()");
            }
        });
}

TEST(EventStoreModelTest, WhatCameBeforeIsVisible) {
    EXPECT_TRUE(holds(readyTellsWhy));
    EXPECT_TRUE(holds(soundTellsWhy));
    EXPECT_TRUE(holds(closedTellsWhy));
}

TEST(EventStoreModelTest, WhoWaitsForAnEventIsWoken) {
    EXPECT_TRUE(holds(addWakesWaiter<Store::Content::plain>));
    EXPECT_TRUE(holds(addWakesWaiter<Store::Content::foreign>));
    EXPECT_TRUE(holds(twoProducers));
    EXPECT_TRUE(holds(whatComesBackWakesWaiters));
}

TEST(EventStoreModelTest, EndOfASilenceIsNotMissed) {
    EXPECT_TRUE(holds(silence<Store::Content::plain>));
    EXPECT_TRUE(holds(silence<Store::Content::foreign>));
}

TEST(EventStoreModelTest, EachEventGoesToOneConsumer) {
    EXPECT_TRUE(holds(twoConsumers));
}

TEST(EventStoreModelTest, TheEndReachesEverybody) {
    EXPECT_TRUE(holds(close));
    EXPECT_TRUE(holds(closeEndsTheWaitForRoom));
    EXPECT_TRUE(holds(drain));
    EXPECT_TRUE(holds(drainedStoreMayBeDestroyed));
}

TEST(EventStoreModelTest, ProducersHearOfRoom) {
    EXPECT_TRUE(holds(room));
    EXPECT_TRUE(holds(roomForTwo<Amount::one>, options({1, 1})));
    EXPECT_TRUE(holds(roomForTwo<Amount::all>, options({1, 1})));
}

TEST(EventStoreModelTest, PeekingHidesNothing) {
    EXPECT_TRUE(holds(peek));
    EXPECT_TRUE(holds(oldestMakesRoom));
}

TEST(EventStoreModelTest, EveryOrderIsNeededButOne) {
    Options shallow;
    shallow.budget = {1, 1};
    const Scenarios scenarios{readyTellsWhy, soundTellsWhy, closedTellsWhy, close, room};
    // The beginning of a silence tells no thread anything.
    EXPECT_TRUE(survive({"silence: store release -> relaxed"},
                        ordersOf("event_store.hpp", shallow, scenarios)));
}

}  // namespace
}  // namespace sluice::model
