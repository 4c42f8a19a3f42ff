#include "support/payloads.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

// An exception loses no other event, and all events stay in order.

namespace sluice {
namespace {

using namespace test;
using Numbers = std::vector<int>;

template <class Policies>
class EventQueueExceptionTest : public NumberQueueTest<Policies> {
protected:
    /// The listener of this event throws, after the one that notes the event.
    void breakAt(int event) {
        this->queue.appendListener(event, [](int) { throw Breakage("a listener"); });
    }
};
TYPED_TEST_SUITE(EventQueueExceptionTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueExceptionTest, ListenerThatThrowsInProcessLosesItsOwnEventOnly) {
    this->breakAt(2);
    this->enqueue({1, 2, 3, 4});
    EXPECT_THROW(this->queue.process(), Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 2}));
    EXPECT_EQ(this->queue.sizeApprox(), 2U);
    EXPECT_FALSE(this->queue.emptyQueue());
    this->enqueue({5});
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{3, 4, 5}));
    EXPECT_TRUE(this->queue.emptyQueue());
}

TYPED_TEST(EventQueueExceptionTest, WhatIsLeftComesBeforeWhatWasQueuedMeanwhile) {
    this->queue.appendListener(1, [this](int) {
        this->enqueue({8, 9});
        throw Breakage("a listener");
    });
    this->enqueue({1, 2, 3});
    EXPECT_THROW(this->queue.process(), Breakage);
    EXPECT_EQ(this->takeQueued(), (Numbers{2, 3, 8, 9}));
}

TYPED_TEST(EventQueueExceptionTest, ListenersBehindTheOneThatThrowsAreNotCalled) {
    this->breakAt(2);
    this->queue.appendListener(2, [this](int) { this->seen.push_back(-1); });
    this->enqueue({2});
    EXPECT_THROW(this->queue.processOne(), Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{2}));
    EXPECT_TRUE(this->queue.emptyQueue());
    EXPECT_FALSE(this->queue.processOne());
}

TYPED_TEST(EventQueueExceptionTest, ProcessOneThatThrowsLeavesTheOthers) {
    this->breakAt(1);
    this->enqueue({1, 2});
    EXPECT_THROW(this->queue.processOne(), Breakage);
    EXPECT_EQ(this->takeQueued(), (Numbers{2}));
}

TYPED_TEST(EventQueueExceptionTest, ListenerThatThrowsInProcessIfKeepsTheRestInOrder) {
    this->breakAt(3);
    this->enqueue({1, 2, 3, 4, 5});
    EXPECT_THROW(this->queue.processIf([](int number) { return number % 2 == 1; }), Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 3}));
    EXPECT_EQ(this->takeQueued(), (Numbers{2, 4, 5}));
}

TYPED_TEST(EventQueueExceptionTest, PredicateOfProcessIfThatThrowsLosesNothing) {
    this->enqueue({1, 2, 3, 4});
    EXPECT_THROW(this->queue.processIf([](int number) -> bool {
        return number == 3 ? throw Breakage("a predicate") : number == 1;
    }),
                 Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{1}));
    EXPECT_EQ(this->takeQueued(), (Numbers{2, 3, 4}));
}

TYPED_TEST(EventQueueExceptionTest, PredicateOrListenerThatThrowsInProcessUntilLosesNoOther) {
    this->enqueue({1, 2, 3});
    EXPECT_THROW(this->queue.processUntil([](int number) -> bool {
        return number == 2 ? throw Breakage("a predicate") : false;
    }),
                 Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{1}));
    this->breakAt(2);
    EXPECT_THROW(this->queue.processUntil([] { return false; }), Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{2}));
    EXPECT_EQ(this->takeQueued(), (Numbers{3}));
}

TYPED_TEST(EventQueueExceptionTest, VisitorThatThrowsLosesItsOwnEventOnly) {
    this->enqueue({1, 2, 3, 4});
    const auto breakAtTwo = [](int event, int) {
        if (event == 2) {
            throw Breakage("a visitor");
        }
    };
    EXPECT_THROW(this->queue.processQueueWith(breakAtTwo), Breakage);
    EXPECT_EQ(this->takeQueued(), (Numbers{3, 4}));
    this->enqueue({2, 5});
    EXPECT_THROW(this->queue.processOneWith(breakAtTwo), Breakage);
    EXPECT_EQ(this->takeQueued(), (Numbers{5}));
}

TYPED_TEST(EventQueueExceptionTest, NestedProcessThatThrowsLosesNothingOfEitherBatch) {
    this->breakAt(8);
    this->queue.appendListener(1, [this](int) {
        this->enqueue({7, 8, 9});
        (void)this->queue.process();
    });
    this->enqueue({1, 2, 3});
    EXPECT_THROW(this->queue.process(), Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 7, 8}));
    EXPECT_EQ(this->takeQueued(), (Numbers{2, 3, 9}));
}

TYPED_TEST(EventQueueExceptionTest, ExceptionThatIsCaughtInTheListenerChangesNothing) {
    this->breakAt(8);
    this->queue.appendListener(1, [this](int) {
        this->enqueue({8, 9});
        EXPECT_THROW(this->queue.process(), Breakage);
    });
    this->enqueue({1, 2});
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 8, 2}));
    EXPECT_EQ(this->takeQueued(), (Numbers{9}));
}

TYPED_TEST(EventQueueExceptionTest, RunEndsWithTheExceptionAndCanGoOn) {
    this->breakAt(2);
    this->enqueue({1, 2, 3});
    this->queue.close();
    EXPECT_THROW(this->queue.run(), Breakage);
    EXPECT_EQ(this->takeSeen(), (Numbers{1, 2}));
    this->queue.run();
    EXPECT_EQ(this->takeSeen(), (Numbers{3}));
}

// ---- constructors of arguments

template <class Policies>
using FragileQueue = EventQueue<int, void(const Fragile&), Policies>;

TYPED_TEST(EventQueueExceptionTest, ArgumentThatCannotBeBuiltLeavesTheQueueAsItWas) {
    Census census;
    FragileQueue<TypeParam> queueOfFragiles;
    Numbers values;
    queueOfFragiles.appendListener(1, [&](const Fragile& item) { values.push_back(item.value()); });
    EXPECT_TRUE(queueOfFragiles.enqueue(1, Fragile(census, 1)));
    EXPECT_THROW(queueOfFragiles.enqueue(1, Fragile(census, 2, Fault::inMove)), Breakage);
    const Fragile original(census, 3, Fault::inCopy);
    EXPECT_THROW(queueOfFragiles.enqueue(1, original), Breakage);
    EXPECT_EQ(queueOfFragiles.sizeApprox(), 1U);
    EXPECT_TRUE(queueOfFragiles.enqueue(1, Fragile(census, 4)));
    EXPECT_TRUE(queueOfFragiles.process());
    EXPECT_EQ(values, (Numbers{1, 4}));
    EXPECT_TRUE(queueOfFragiles.emptyQueue());
    EXPECT_EQ(census.alive(), 1U);
}

TYPED_TEST(EventQueueExceptionTest, ArgumentThatCannotBeBuiltGivesItsRoomBack) {
    Census census;
    FragileQueue<TypeParam> bounded(EventQueueOptions{1});
    EXPECT_THROW(bounded.enqueue(1, Fragile(census, 2, Fault::inMove)), Breakage);
    EXPECT_TRUE(bounded.enqueue(1, Fragile(census, 1)));
    EXPECT_FALSE(bounded.enqueue(1, Fragile(census, 3)));
}

/// Assigning one throws.
struct Stubborn {
    Stubborn() = default;
    Stubborn(int own) : number(own) {}
    Stubborn(const Stubborn&) = default;
    Stubborn& operator=(const Stubborn&) { throw Breakage("an assignment"); }
    ~Stubborn() = default;
    int number = 0;
};

TYPED_TEST(EventQueueExceptionTest, EventThatCannotBeCopiedOrMovedOutStays) {
    EventQueue<int, void(const Stubborn&), TypeParam> stubborn;
    typename decltype(stubborn)::QueuedEvent event{};
    EXPECT_TRUE(stubborn.enqueue(1, 5));
    EXPECT_TRUE(stubborn.enqueue(2, 6));
    EXPECT_THROW(stubborn.peekEvent(&event), Breakage);
    EXPECT_THROW(stubborn.takeEvent(&event), Breakage);
    Numbers left;
    EXPECT_TRUE(stubborn.processQueueWith(
        [&](int, const Stubborn& argument) { left.push_back(argument.number); }));
    EXPECT_EQ(left, (Numbers{5, 6}));
}

// ---- set-up

TYPED_TEST(EventQueueExceptionTest, LimitOfNothingIsRefused) {
    using Refused = typename TestFixture::Queue;
    EXPECT_THROW(Refused(EventQueueOptions{0}), std::invalid_argument);
}

}  // namespace
}  // namespace sluice

#endif
