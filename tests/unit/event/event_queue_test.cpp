#include "support/payloads.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include "support/testing.hpp"

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

TYPED_TEST(EventQueueTest, CopyOfAClosedQueueIsOpenAndHasItsLimit) {
    typename TestFixture::Queue bounded(EventQueueOptions{1});
    bounded.close();
    typename TestFixture::Queue copy(bounded);
    EXPECT_FALSE(copy.isClosed());
    EXPECT_TRUE(copy.enqueue(1));
    EXPECT_FALSE(copy.enqueue(2));
}

// ---- processIf(), processUntil(), processQueueWith() and processOneWith().

template <class Policies>
class EventQueueSelectTest : public NumberQueueTest<Policies> {};
TYPED_TEST_SUITE(EventQueueSelectTest, CommonQueuePolicies, QueuePolicyNames);

auto is(int wanted) {
    return [wanted](int number) { return number == wanted; };
}

// ---- processIf

TYPED_TEST(EventQueueSelectTest, ProcessIfAsksOnceForEachEventInOrder) {
    this->enqueue({5, 7, 6, 6, 7});
    this->enqueue({7});
    Numbers asked;
    EXPECT_TRUE(this->queue.processIf([&asked](int number) {
        asked.push_back(number);
        return number == 7;
    }));
    EXPECT_EQ(asked, (Numbers{5, 7, 6, 6, 7, 7}));
    EXPECT_EQ(this->takeSeen(), (Numbers{7, 7, 7}));
    EXPECT_EQ(this->takeQueued(), (Numbers{5, 6, 6}));
}

TYPED_TEST(EventQueueSelectTest, KeptEventsComeBeforeThoseThatListenersAdd) {
    this->queue.appendListener(6, [this](int) { this->enqueue({8, 9}); });
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processIf(is(6)));
    EXPECT_EQ(this->takeQueued(), (Numbers{5, 7, 8, 9}));
}

// ---- processUntil

TYPED_TEST(EventQueueSelectTest, ProcessUntilStopsInFrontOfWhatThePredicateNames) {
    EXPECT_FALSE(this->queue.processUntil([] { return false; }));
    int counter = 0;
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processUntil([&counter] { return counter++ == 1; }));
    EXPECT_EQ(this->takeSeen(), (Numbers{5}));
    this->enqueue({5, 6, 7});
    counter = 0;
    EXPECT_TRUE(this->queue.processUntil([&counter] { return counter++ == 3; }));
    EXPECT_EQ(this->takeSeen(), (Numbers{6, 7, 5}));
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{6, 7}));
}

TYPED_TEST(EventQueueSelectTest, EventsThatProcessUntilLeavesComeBeforeNewOnes) {
    this->queue.appendListener(5, [this](int) { this->enqueue({8}); });
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processUntil(is(6)));
    EXPECT_EQ(this->takeQueued(), (Numbers{6, 7, 8}));
}

// ---- The place of the event among the arguments, the fate of the arguments, and the number of
// their copies.

template <class Policies>
class EventQueueArgumentsTest : public testing::Test {};
TYPED_TEST_SUITE(EventQueueArgumentsTest, CommonQueuePolicies, QueuePolicyNames);

template <class Base>
struct FirstLetter : Base {
    static const char& getEvent(const std::string& text) { return text.front(); }
};

TYPED_TEST(EventQueueArgumentsTest, GetEventSeesArgumentsThatAreMovedInAfterwards) {
    EventQueue<char, void(const std::string&), FirstLetter<TypeParam>> queue;
    std::string seen;
    queue.appendListener('b', [&](const std::string& text) { seen += text; });
    std::string text(100, 'b');
    EXPECT_TRUE(queue.enqueue(std::move(text)));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, std::string(100, 'b'));
}

// ---- the arguments

TYPED_TEST(EventQueueArgumentsTest, ArgumentsThatCannotBeCopiedAreProcessedAndTaken) {
    using Pointer = std::unique_ptr<int>;
    EventQueue<int, void(const Pointer&), TypeParam> queue;
    int sum = 0;
    queue.appendListener(1, [&](const Pointer& number) { sum += *number; });
    for (const int number : {1, 20, 300}) {
        EXPECT_TRUE(queue.enqueue(1, std::make_unique<int>(number)));
    }
    typename decltype(queue)::QueuedEvent event{};
    EXPECT_TRUE(queue.takeEvent(&event));
    EXPECT_EQ(sum, 0);
    queue.dispatch(event);
    EXPECT_EQ(sum, 1);
    EXPECT_TRUE(queue.processIf([](const Pointer& number) { return *number == 300; }));
    EXPECT_EQ(sum, 301);
    Pointer last;
    EXPECT_TRUE(queue.processQueueWith([&](int, Pointer& number) { last = std::move(number); }));
    EXPECT_EQ(*last, 20);
}

TYPED_TEST(EventQueueArgumentsTest, OverAlignedArgumentsLieWhereTheyMust) {
    using Wide = OverAligned<128>;
    EventQueue<int, void(const Wide&), TypeParam> queue;
    int sum = 0;
    queue.appendListener(1, [&](const Wide& wide) {
        EXPECT_TRUE(wide.isAligned());
        sum += wide.value;
    });
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(queue.enqueue(1, Wide(i)));
    }
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 4950);
}

// ---- copies

/// Counts its copies and its living.
struct Parcel {
    struct Counts {
        int alive = 0;
        int copies = 0;
        int copyAssignments = 0;
    };
    explicit Parcel(Counts& own) : counts(&own) { ++counts->alive; }
    Parcel(const Parcel& other) : counts(other.counts) {
        ++counts->alive;
        ++counts->copies;
    }
    Parcel(Parcel&& other) noexcept : counts(other.counts) { ++counts->alive; }
    Parcel& operator=(const Parcel&) {  // NOLINT(bugprone-unhandled-self-assignment)
        ++counts->copyAssignments;
        return *this;
    }
    Parcel& operator=(Parcel&&) noexcept { return *this; }
    ~Parcel() { --counts->alive; }
    Counts* counts;
};

TYPED_TEST(EventQueueArgumentsTest, TemporaryIsNeverCopiedAndLivesOnceUntilItHasBeenDispatched) {
    Parcel::Counts counts;
    {
        EventQueue<int, void(const Parcel&), TypeParam> queue;
        int livingWhenCalled = 0;
        queue.appendListener(1, [&](const Parcel&) { livingWhenCalled = counts.alive; });
        EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
        EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
        EXPECT_EQ(counts.alive, 2);
        EXPECT_TRUE(queue.process());
        EXPECT_EQ(livingWhenCalled, 1) << "the first one went right after its own dispatch";
        EXPECT_EQ(counts.alive, 0);
        EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
        EXPECT_EQ(counts.alive, 1);
    }
    EXPECT_EQ(counts.alive, 0);
    EXPECT_EQ(counts.copies, 0);
    EXPECT_EQ(counts.copyAssignments, 0);
}

}  // namespace
}  // namespace sluice
