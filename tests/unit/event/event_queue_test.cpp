#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Order, peeking and taking, clearing, and the copies and moves of a queue.

namespace sluice {
namespace {

using namespace test;

template <class Policies>
class EventQueueTest : public NumberQueueTest<Policies> {};
using Numbers = std::vector<int>;
TYPED_TEST_SUITE(EventQueueTest, QueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueTest, ProcessDispatchesInTheOrderOfArrival) {
    EXPECT_FALSE(this->queue.process());
    this->enqueue({3, 1, 2});
    EXPECT_TRUE(this->seen.empty()) << "nothing is dispatched before process()";
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{3, 1, 2}));
    EXPECT_FALSE(this->queue.process());
}

TYPED_TEST(EventQueueTest, ProcessIsTrueAlsoWhenNobodyListens) {
    EXPECT_TRUE(this->queue.enqueue(42));
    EXPECT_TRUE(this->queue.process());
    EXPECT_TRUE(this->queue.emptyQueue());
}

TYPED_TEST(EventQueueTest, ProcessOneDispatchesTheFirst) {
    EXPECT_FALSE(this->queue.processOne());
    this->enqueue({3, 1});
    EXPECT_TRUE(this->queue.processOne());
    EXPECT_EQ(this->takeSeen(), (Numbers{3}));
    this->enqueue({2});
    EXPECT_TRUE(this->queue.processOne());
    EXPECT_TRUE(this->queue.processOne());
    EXPECT_FALSE(this->queue.processOne());
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 2}));
}

TYPED_TEST(EventQueueTest, EventsOfAListenerWaitForTheNextRound) {
    this->queue.appendListener(1, [this](int) { EXPECT_TRUE(this->queue.enqueue(7)); });
    this->enqueue({1, 2});
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 2}));
    EXPECT_EQ(this->queue.sizeApprox(), 1U);
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{7}));
}

TYPED_TEST(EventQueueTest, NestedProcessRunsNewerEventsBeforeTheRestOfTheBatch) {
    this->queue.appendListener(1, [this](int) {
        EXPECT_FALSE(this->queue.process()) << "the rest is in the outer batch";
        EXPECT_TRUE(this->queue.enqueue(8));
        EXPECT_TRUE(this->queue.enqueue(9));
        EXPECT_TRUE(this->queue.process());
    });
    this->enqueue({1, 2, 3});
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 8, 9, 2, 3}));
}

TYPED_TEST(EventQueueTest, ListenerMayPeekTakeAndClear) {
    this->queue.appendListener(1, [this](int) {
        typename TestFixture::QueuedEvent event{};
        EXPECT_FALSE(this->queue.peekEvent(&event)) << "the rest is in the batch";
        EXPECT_TRUE(this->queue.enqueue(7));
        EXPECT_TRUE(this->queue.enqueue(8));
        EXPECT_TRUE(this->queue.peekEvent(&event));
        EXPECT_EQ(event.event, 7);
        EXPECT_TRUE(this->queue.takeEvent(&event));
        EXPECT_EQ(event.event, 7);
        this->queue.clearEvents();
        EXPECT_EQ(this->queue.sizeApprox(), 0U);
    });
    this->enqueue({1, 2});
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 2})) << "the batch itself is not cleared";
    EXPECT_FALSE(this->queue.process());
    EXPECT_TRUE(this->queue.emptyQueue());
}

TYPED_TEST(EventQueueTest, QueueIsNotEmptyWhileItsListenersRun) {
    bool wasEmpty = true;
    this->queue.appendListener(1, [&](int) { wasEmpty = this->queue.emptyQueue(); });
    this->enqueue({1});
    EXPECT_FALSE(this->queue.emptyQueue());
    EXPECT_TRUE(this->queue.process());
    EXPECT_FALSE(wasEmpty);
    EXPECT_TRUE(this->queue.emptyQueue());
}

TYPED_TEST(EventQueueTest, ClearedEventsAreNotDispatched) {
    this->queue.clearEvents();
    this->enqueue({1, 2});
    this->queue.clearEvents();
    EXPECT_TRUE(this->queue.emptyQueue());
    EXPECT_FALSE(this->queue.process());
    EXPECT_TRUE(this->seen.empty());
    EXPECT_EQ(this->queue.discardedCount(), 2U);
}

TYPED_TEST(EventQueueTest, ListenersAreCalledThatThereAreWhenTheEventIsProcessed) {
    EventQueue<int, void(int), TypeParam> own;
    int sum = 0;
    EXPECT_TRUE(own.enqueue(1));
    const auto handle = own.appendListener(1, [&](int number) { sum += number; });
    EXPECT_TRUE(own.process());
    EXPECT_EQ(sum, 1);
    EXPECT_TRUE(own.enqueue(1));
    EXPECT_TRUE(own.removeListener(1, handle));
    EXPECT_TRUE(own.process());
    EXPECT_EQ(sum, 1);
}

// ---- peekEvent, takeEvent, and dispatching their results

template <class Policies>
using PointerQueue = EventQueue<int, void(const std::shared_ptr<int>&), Policies>;

TYPED_TEST(EventQueueTest, PeekCopiesTheFirstEventAndTakeMovesItOut) {
    PointerQueue<TypeParam> own;
    typename PointerQueue<TypeParam>::QueuedEvent peeked{};
    typename PointerQueue<TypeParam>::QueuedEvent taken{};
    EXPECT_FALSE(own.peekEvent(&peeked));
    EXPECT_FALSE(own.takeEvent(&taken));

    const auto data = std::make_shared<int>(5);
    EXPECT_TRUE(own.enqueue(3, data));
    EXPECT_EQ(data.use_count(), 2);
    EXPECT_TRUE(own.peekEvent(&peeked));
    EXPECT_EQ(data.use_count(), 3);
    EXPECT_EQ(peeked.getEvent(), 3);
    EXPECT_EQ(peeked.template getArgument<0>(), data);
    EXPECT_TRUE(own.takeEvent(&taken));
    EXPECT_EQ(data.use_count(), 3) << "moved, not copied";
    EXPECT_EQ(std::get<0>(taken.arguments), data);
    EXPECT_FALSE(own.takeEvent(&taken));
    EXPECT_FALSE(own.process());
    EXPECT_TRUE(own.emptyQueue());
}

TYPED_TEST(EventQueueTest, TakingInOrderEmptiesTheQueue) {
    this->enqueue({4, 2, 6});
    Numbers taken;
    typename TestFixture::QueuedEvent event{};
    while (this->queue.takeEvent(&event)) {
        taken.push_back(event.event);
    }
    EXPECT_EQ(taken, (Numbers{4, 2, 6}));
    EXPECT_FALSE(this->queue.peekEvent(&event));
    EXPECT_FALSE(this->queue.process());
    EXPECT_TRUE(this->seen.empty());
}

TYPED_TEST(EventQueueTest, TakenEventIsDispatchedAsOftenAsOneLikes) {
    typename TestFixture::QueuedEvent event{};
    this->enqueue({4, 2});
    EXPECT_TRUE(this->queue.takeEvent(&event));
    this->queue.dispatch(event);
    this->queue.dispatch(std::as_const(event));
    this->queue.dispatch(std::move(event));
    EXPECT_EQ(this->takeSeen(), (Numbers{4, 4, 4}));
    EXPECT_EQ(this->takeQueued(), (Numbers{2})) << "the queue is as it was";
}

TYPED_TEST(EventQueueTest, EventWithoutArgumentsIsDispatchedAgain) {
    EventQueue<int, void(), TypeParam> own;
    int calls = 0;
    own.appendListener(1, [&] { ++calls; });
    EXPECT_TRUE(own.enqueue(1));
    typename EventQueue<int, void(), TypeParam>::QueuedEvent event{};
    EXPECT_TRUE(own.takeEvent(&event));
    own.dispatch(event);
    own.dispatch(std::as_const(event));
    own.dispatch(1);
    EXPECT_EQ(calls, 3);
}

TYPED_TEST(EventQueueTest, ListenersMayChangeReferencesOfATakenEvent) {
    EventQueue<int, void(int&), TypeParam> own;
    own.appendListener(1, [](int& number) { ++number; });
    EXPECT_TRUE(own.enqueue(1, 5));
    typename EventQueue<int, void(int&), TypeParam>::QueuedEvent event{};
    EXPECT_TRUE(own.takeEvent(&event));
    own.dispatch(event);
    own.dispatch(event);
    EXPECT_EQ(std::get<0>(event.arguments), 7);
}

// ---- copying and moving

TYPED_TEST(EventQueueTest, CopyHasTheListenersAndNoEvents) {
    this->enqueue({1, 2});
    typename TestFixture::Queue copy(this->queue);
    EXPECT_TRUE(copy.emptyQueue());
    EXPECT_FALSE(copy.process());
    EXPECT_TRUE(copy.enqueue(3));
    EXPECT_TRUE(copy.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{3}));

    typename TestFixture::Queue assigned;
    EXPECT_TRUE(assigned.enqueue(4));
    assigned = this->queue;
    EXPECT_TRUE(assigned.process()) << "its own events stay";
    EXPECT_EQ(this->takeSeen(), (Numbers{4}));
    EXPECT_EQ(this->queue.sizeApprox(), 2U);
    EXPECT_TRUE(this->queue.process());
}

TYPED_TEST(EventQueueTest, MoveTakesTheListenersAndLeavesTheEvents) {
    this->enqueue({1, 2});
    typename TestFixture::Queue moved(std::move(this->queue));
    EXPECT_TRUE(moved.emptyQueue());
    EXPECT_TRUE(moved.enqueue(3));
    EXPECT_TRUE(moved.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{3}));
    EXPECT_TRUE(this->queue.process()) << "the events stayed";
    EXPECT_TRUE(this->seen.empty()) << "but their listeners have left";

    this->queue = std::move(moved);
    this->enqueue({5});
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{5}));
}

TYPED_TEST(EventQueueTest, SwapExchangesTheListenersOnly) {
    typename TestFixture::Queue other;
    this->enqueue({1});
    this->queue.swap(other);
    EXPECT_TRUE(other.enqueue(2));
    EXPECT_TRUE(other.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{2}));
    EXPECT_EQ(this->queue.sizeApprox(), 1U);
    std::swap(this->queue, other);
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{1}));
}

TYPED_TEST(EventQueueTest, CopyOfAClosedQueueIsOpenAndHasItsLimit) {
    typename TestFixture::Queue bounded(EventQueueOptions{1});
    bounded.close();
    typename TestFixture::Queue copy(bounded);
    EXPECT_FALSE(copy.isClosed());
    EXPECT_TRUE(copy.enqueue(1));
    EXPECT_FALSE(copy.enqueue(2));
}

}  // namespace
}  // namespace sluice
