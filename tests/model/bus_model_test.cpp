#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/priority_store.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

// The bus's store as shipped, with its ring of arrivals, under the model checker. Edge E1 is what
// the contents of messages rely on, E2 what their slots rely on, in one step or by way of another
// publisher, E5 that an announced message is found.

namespace sluice::model {
namespace {

template <std::size_t Depth, BusOverflow Low = BusOverflow::reject>
struct BusTraits : FullBusTraits {
    using Platform = ModelPlatform;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
    static constexpr std::size_t depth = Depth;
    static constexpr std::array<std::size_t, priorityCount> limits{100, 100, 100};
    static constexpr std::array<BusOverflow, priorityCount> overflow{Low, BusOverflow::reject,
                                                                     BusOverflow::reject};
    static constexpr bool ids = false;
};

/// What lies in a slot: its content is checked for data races.
struct Content {
    Plain<int> number;
    void markAsNothing() { number.set(-1); }
};

template <std::size_t Depth, BusOverflow Low = BusOverflow::reject>
using Store = detail::PriorityStore<Content, BusTraits<Depth, Low>>;

template <std::size_t Depth>
struct LaneTraits : BusTraits<2> {
    static constexpr std::size_t lanes = 1;
    static constexpr std::size_t laneDepth = Depth;
};
template <std::size_t Depth>
using LaneStore = detail::PriorityStore<Content, LaneTraits<Depth>>;

struct SoleTraits : BusTraits<2> {
    static constexpr Producers producers = Producers::one;
};
using SoleStore = detail::PriorityStore<Content, SoleTraits>;

template <class AnyStore>
PublishResult publish(AnyStore& store, int number, Priority priority = Priority::medium,
                      std::size_t gate = 0) {
    return store
        .publish(gate, priority, 1,
                 [number](Content& content) {
                     content.number.set(number);
                     return false;
                 })
        .result;
}

template <class AnyStore>
void insist(AnyStore& store, int number, Priority priority = Priority::medium,
            std::size_t gate = 0) {
    while (publish(store, number, priority, gate) != PublishResult::ok) {
        ModelPlatform::pause();
    }
}

constexpr auto ignore = [](Content&) {};
template <class AnyStore, class Handle>
std::size_t harvest(AnyStore& store, const Handle& handle, std::size_t most) {
    store.begin();
    return store.serve(ignore, handle, most, false);
}

template <class AnyStore, class Handle>
void serve(AnyStore& store, std::size_t count, Handle handle) {
    const auto handleContent = [&](Content& content) { handle(content.number.get()); };
    while (count != 0) {
        const std::size_t served = harvest(store, handleContent, count);
        if (served == 0) {
            ModelPlatform::pause();
        }
        count -= served;
    }
}

template <class AnyStore, class Handle>
void serveSome(AnyStore& store, std::size_t most, Handle handle) {
    const auto handleContent = [&](Content& content) { handle(content.number.get()); };
    (void)harvest(store, handleContent, most);
}

template <class AnyStore, class Handle>
void serveToTheEnd(AnyStore& store, Handle handle) {
    while (!store.isDrained()) {
        if (harvest(
                store, [&](Content&) { handle(); }, 2) == 0) {
            ModelPlatform::pause();
        }
    }
}

void await(const Atomic<int>& flag) {
    while (flag.load(std::memory_order_acquire) == 0) {
        ModelPlatform::pause();
    }
}

/// The first one to be served must be this message, of high priority.
template <class AnyStore>
void serveFirst(AnyStore& store, int number) {
    int first = -1;
    const auto note = [&](Content& content) { first = content.number.get(); };
    check(harvest(store, note, 1) == 1, "it is there");
    check(first == number, "and comes first");
}

/// Numbers of a first publisher are 0, 1, ..., of a second one 10, 11, ...
struct InOrder {
    std::array<int, 2> next{0, 10};
    void operator()(int number) {
        check(number == next[number < 10 ? 0 : 1]++, "each publisher's order is kept");
    }
};

/// Two slots for three messages, and positions that wrap.
void slotsAreReused() {
    Store<2> store;
    parallel([&] { insist(store, 0), insist(store, 1); }, [&] { insist(store, 10); },
             [&] { serve(store, 3, InOrder()); });
}

/// Two messages have room for two, whoever is slow.
void neverFullWithoutReason() {
    Store<2> store;
    const auto publishOne = [&] { check(publish(store, 0) == PublishResult::ok, "there is room"); };
    parallel(publishOne, publishOne, [&] { serve(store, 1, [](int) {}); });
}

/// What a handler wrote is visible to the publisher that finds its slot free.
void roomCarriesWhatTheConsumerWrote() {
    Store<2> store;
    Plain<int> handled;
    insist(store, 0);
    insist(store, 1);
    const auto publishLater = [&] {
        if (publish(store, 10) == PublishResult::ok) {
            check(handled.get() == 1, "both slots were used before");
        }
    };
    parallel(publishLater, publishLater, [&] { serve(store, 1, [&](int) { handled.set(1); }); });
}

/// Who knows that a slot has come back finds it, also when it knows it from another publisher.
void roomThatAnotherPublisherKnewOf() {
    Store<2> store;
    Plain<int> handled;
    Atomic<int> hasRoom{0};
    parallel(
        [&] {
            insist(store, 0);
            await(hasRoom);
            insist(store, 1);
        },
        [&] {
            serve(store, 1, [&](int) { handled.set(1); });
            hasRoom.store(1, std::memory_order_release);
        },
        [&] { check(publish(store, 10) == PublishResult::ok, "there is room"); });
}

/// Who sees that its message is gone sees what the handler did.
void sizeTellsThatAHandlerIsDone() {
    Store<2> store;
    Plain<int> handled;
    parallel(
        [&] {
            insist(store, 0);
            if (store.used(0) == 0) {
                check(handled.get() == 1, "the handler has been here");
            }
        },
        [&] {
            const auto note = [&](Content&) { handled.set(1); };
            (void)harvest(store, note, 1);
        },
        [&] { check(store.used(0) <= 1, "at most what was published"); });
}

/// The same, told by the look that makes later claims exact.
void refreshTellsThatAHandlerIsDone() {
    Store<2> store;
    Plain<int> handled;
    parallel(
        [&] {
            insist(store, 0);
            if (store.refreshUsed(0) == 0) {
                check(handled.get() == 1, "the handler has been here");
            }
        },
        [&] {
            const auto note = [&](Content&) { handled.set(1); };
            (void)harvest(store, note, 1);
        });
}

/// Messages that pass through were not all there at once.
void sizeIsOneThatWasThere() {
    Store<4> store;
    parallel(
        [&] {
            for (int number = 0; number < 2; ++number) {
                insist(store, number);
                serve(store, 1, [](int) {});
            }
        },
        [&] { check(store.used(0) <= 1, "one at a time was there"); });
}

/// A slot that one publisher has learnt of is used by another one.
void roomThatALookBroughtIn() {
    Store<2> store;
    Plain<int> handled;
    insist(store, 0);
    insist(store, 1);
    parallel([&] { (void)store.refreshUsed(0); },
             [&] {
                 if (publish(store, 10) == PublishResult::ok) {
                     check(handled.get() == 1, "both slots were used before");
                 }
             },
             [&] { serve(store, 1, [&](int) { handled.set(1); }); });
}

/// Who sees the store closed sees what was done before.
template <class AnyStore>
void closedTellsWhy() {
    AnyStore store;
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

/// Two messages of high priority behind one that is stuck: the announcement of one may lead to the
/// other.
void urgentContentIsVisible() {
    Store<4> store;
    parallel([&] { insist(store, 0, Priority::low); }, [&] { insist(store, 10, Priority::high); },
             [&] { insist(store, 10, Priority::high); },
             [&] {
                 const auto look = [&](Content& content) {
                     check(content.number.get() % 10 == 0, "what was published");
                 };
                 (void)harvest(store, look, 1);
                 (void)harvest(store, look, 1);
             });
}

/// Two messages of high priority of one publisher, the second of which might be found first.
void urgentStaysInOrder() {
    Store<4> store;
    parallel([&] { insist(store, 0, Priority::high), insist(store, 1, Priority::high); },
             [&] { serveSome(store, 2, InOrder()); });
}

/// The same with two that are published at once.
void urgentBatchStaysInOrder() {
    Store<4> store;
    parallel(
        [&] {
            int number = 0;
            const auto fill = [&number](Content& content) {
                content.number.set(number++);
                return false;
            };
            for (std::size_t left = 2; left != 0;) {
                left -= store.publish(0, Priority::high, left, fill).count;
            }
        },
        [&] { serveSome(store, 2, InOrder()); });
}

/// The announcement of one message must not stand in for that of another, whose publisher has been
/// stopped.
void eachUrgentOneIsAnnounced() {
    Store<4> store;
    Atomic<int> isPublished{0};
    parallel([&] { insist(store, 9, Priority::low); }, [&] { insist(store, 0, Priority::high); },
             [&] {
                 insist(store, 1, Priority::high);
                 isPublished.store(1, std::memory_order_release);
             },
             [&] {
                 bool isFound = false;
                 const auto look = [&](int number) { isFound = isFound || number == 1; };
                 serveSome(store, 1, look);
                 await(isPublished);
                 if (!isFound) {
                     serveSome(store, 2, look);
                     check(isFound, "at most the other one goes first");
                 }
             });
}

/// Of a message of high priority whose publication has returned, the consumer knows, although
/// another publisher may be in the middle.
void urgentIsFound() {
    Store<3> store;
    Atomic<int> isPublished{0};
    parallel([&] { insist(store, 0, Priority::low); },
             [&] {
                 insist(store, 10, Priority::high);
                 isPublished.store(1, std::memory_order_release);
             },
             [&] {
                 await(isPublished);
                 serveFirst(store, 10);
             });
}

/// Everything arrives and every slot comes back, also what was taken out of turn.
void nothingIsLostOutOfTurn() {
    Store<2> store;
    parallel([&] { insist(store, 0, Priority::low); },
             [&] {
                 insist(store, 10, Priority::high);
                 insist(store, 11, Priority::high);
             },
             [&] { serve(store, 3, InOrder()); });
    const auto none = [](Content&) {};
    check(harvest(store, none, 1) == 0, "nothing is left, and what was held back comes back");
    check(store.used(0) == 0, "all slots are free");
    check(publish(store, 0) == PublishResult::ok && publish(store, 1) == PublishResult::ok,
          "both can be used");
}

/// A publisher drops what the consumer would take.
void dropWhileServing() {
    using Dropping = Store<2, BusOverflow::dropOldest>;
    Dropping store;
    int dropped = 0;
    int served = 0;
    insist(store, 0, Priority::low);
    insist(store, 1, Priority::low);
    parallel(
        [&] {
            const auto any = [](const Content&) { return true; };
            const auto drop = [&](Content& content) { dropped += content.number.get() >= 0; };
            while (publish(store, 2, Priority::low) != PublishResult::ok) {
                if (!store.dropOldest(Priority::low, any, drop)) {
                    ModelPlatform::pause();
                }
            }
        },
        [&] {
            const auto note = [&](Content& content) { served += content.number.get() >= 0; };
            while (dropped + served < 3) {
                if (harvest(store, note, 1) == 0) {
                    ModelPlatform::pause();
                }
            }
        });
    check(dropped + served == 3, "each is dropped or served");
}

/// One publisher closes while another publishes.
void closeWhilePublishing() {
    Store<2> store;
    Plain<int> handled;
    Plain<int> reason;
    int accepted = 0;
    int served = 0;
    parallel(
        [&] {
            accepted += publish(store, 0) == PublishResult::ok ? 1 : 0;
            reason.set(1);
            store.close();
        },
        [&] {
            accepted += publish(store, 10) == PublishResult::ok ? 1 : 0;
            if (store.isDrained()) {
                check(handled.get() == accepted && reason.get() == 1,
                      "all that happened is visible");
            }
        },
        [&] { serveToTheEnd(store, [&] { handled.set(++served); }); });
    check(accepted == served, "what was accepted was served");
}

/// Two slots of a lane for three messages, and positions that wrap, beside one of the shared gate.
void laneSlotsAreReused() {
    LaneStore<2> store;
    const std::size_t gate = store.takeLane();
    parallel(
        [&] {
            for (int number = 0; number < 3; ++number) {
                insist(store, number, Priority::medium, gate);
            }
        },
        [&] { insist(store, 10); }, [&] { serve(store, 4, InOrder()); });
}

/// A producer takes over the lane that another one leaves.
void laneIsPassedOn() {
    LaneStore<2> store;
    const auto produce = [&](int number) {
        std::size_t gate = 0;
        while ((gate = store.takeLane()) == 0) {
            ModelPlatform::pause();
        }
        insist(store, number, Priority::medium, gate);
        store.returnLane(gate);
    };
    int sum = 0;
    parallel([&] { produce(1); }, [&] { produce(2); },
             [&] { serve(store, 2, [&](int number) { sum += number; }); });
    check(sum == 3, "each is served once");
}

/// What is announced in a lane comes before what is known.
void urgentInALaneIsFound() {
    LaneStore<3> store;
    const std::size_t gate = store.takeLane();
    Atomic<int> isPublished{0};
    insist(store, 0, Priority::low);
    parallel(
        [&] {
            insist(store, 10, Priority::high, gate);
            isPublished.store(1, std::memory_order_release);
        },
        [&] {
            await(isPublished);
            serveFirst(store, 10);
        });
}

/// Messages that pass through a lane were not all there at once, nor are those that are refused.
void sizeOfALaneIsOneThatWasThere() {
    LaneStore<4> store;
    const std::size_t gate = store.takeLane();
    parallel(
        [&] {
            for (int number = 0; number < 3; ++number) {
                if (publish(store, number, Priority::medium, gate) == PublishResult::ok) {
                    serve(store, 1, [](int) {});
                }
            }
        },
        [&] { store.close(); }, [&] { check(store.used(gate) <= 1, "one at a time was there"); });
}

/// One thread closes while a producer publishes through its lane.
void closeWhileALanePublishes() {
    LaneStore<2> store;
    const std::size_t gate = store.takeLane();
    Plain<int> handled;
    int accepted = 0;
    int served = 0;
    parallel([&] { store.close(); },
             [&] {
                 for (int number = 0; number < 2; ++number) {
                     const bool isOk =
                         publish(store, number, Priority::medium, gate) == PublishResult::ok;
                     check(!isOk || accepted == number, "once closed, always closed");
                     accepted += isOk ? 1 : 0;
                 }
                 if (store.isDrained()) {
                     check(handled.get() == accepted, "all that happened is visible");
                 }
             },
             [&] { serveToTheEnd(store, [&] { handled.set(++served); }); });
    check(accepted == served, "what was accepted was served");
}

Options options(Budget budget) {
    Options result;
    result.budget = budget;
    return result;
}

TEST(BusModelTest, DeliversInOrderThroughReusedSlots) {
    EXPECT_TRUE(holds(slotsAreReused));
    EXPECT_TRUE(holds(roomCarriesWhatTheConsumerWrote));
}

TEST(BusModelTest, IsFullOnlyWhenFull) {
    EXPECT_TRUE(holds(neverFullWithoutReason, options({3, 2})));
    EXPECT_TRUE(holds(roomThatAnotherPublisherKnewOf, options({2, 2})));
    EXPECT_TRUE(holds(roomThatALookBroughtIn));
}

TEST(BusModelTest, UrgentMessagesAreFoundAndNothingIsLost) {
    const Options dear = options(budgetByEffort({1, 1}, {2, 1}));
    EXPECT_TRUE(holds(urgentIsFound));
    EXPECT_TRUE(holds(nothingIsLostOutOfTurn, dear));
    EXPECT_TRUE(holds(urgentContentIsVisible, dear));
    EXPECT_TRUE(holds(urgentStaysInOrder));
    EXPECT_TRUE(holds(urgentBatchStaysInOrder));
    EXPECT_TRUE(holds(eachUrgentOneIsAnnounced, dear));
}

TEST(BusModelTest, DropsOrServesEachOnce) {
    EXPECT_TRUE(holds(dropWhileServing));
}

TEST(BusModelTest, ServesWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhilePublishing));
    EXPECT_TRUE(holds(closedTellsWhy<Store<2>>));
    EXPECT_TRUE(holds(closedTellsWhy<SoleStore>));
}

TEST(BusModelTest, SizesTellWhatHandlersDid) {
    EXPECT_TRUE(holds(sizeTellsThatAHandlerIsDone));
    EXPECT_TRUE(holds(refreshTellsThatAHandlerIsDone));
    EXPECT_TRUE(holds(sizeIsOneThatWasThere));
}

TEST(BusModelTest, LanesDeliverInOrderAndEnd) {
    EXPECT_TRUE(holds(laneSlotsAreReused));
    EXPECT_TRUE(holds(laneIsPassedOn));
    EXPECT_TRUE(holds(urgentInALaneIsFound));
    EXPECT_TRUE(holds(sizeOfALaneIsOneThatWasThere));
    EXPECT_TRUE(holds(closeWhileALanePublishes));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(BusModelTest, EveryOrderIsNeeded) {
    const Options dear = options(budgetByEffort({1, 1}, {2, 1}));
    EXPECT_TRUE(
        survive({}, surveyOrders("arrival_ring.hpp", dear,
                                 {closedTellsWhy<Store<2>>, sizeTellsThatAHandlerIsDone,
                                  refreshTellsThatAHandlerIsDone, sizeIsOneThatWasThere,
                                  roomCarriesWhatTheConsumerWrote, roomThatAnotherPublisherKnewOf,
                                  roomThatALookBroughtIn, slotsAreReused, closeWhilePublishing,
                                  urgentContentIsVisible, urgentStaysInOrder})));
    EXPECT_TRUE(survive({}, surveyOrders("admission.hpp", dear,
                                         {closedTellsWhy<Store<2>>,
                                          closedTellsWhy<SoleStore>,
                                          {sizeOfALaneIsOneThatWasThere, {2, 1}},
                                          roomThatAnotherPublisherKnewOf,
                                          closeWhilePublishing,
                                          urgentStaysInOrder,
                                          sizeTellsThatAHandlerIsDone,
                                          sizeIsOneThatWasThere,
                                          closeWhileALanePublishes,
                                          laneSlotsAreReused,
                                          laneIsPassedOn})));
    EXPECT_TRUE(survive({}, surveyOrders("gates.hpp", dear, {laneIsPassedOn})));
}
#endif

}  // namespace
}  // namespace sluice::model
