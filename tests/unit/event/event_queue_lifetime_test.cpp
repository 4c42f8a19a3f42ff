#include "support/payloads.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include "support/testing.hpp"

// Queues that end: with events, inside of their own listeners, and with arguments whose destructors
// use them. The census notices objects that are destroyed twice or never. AddressSanitizer notices
// objects that are used too late.

namespace sluice {
namespace {

using namespace test;

template <class Policies>
class EventQueueLifetimeTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(const Counted&), Policies>;

    void enqueue(int events) {
        for (int i = 0; i < events; ++i) {
            EXPECT_TRUE(queue->enqueue(1, Counted(census, i)));
        }
    }

    /// The listener that destroys the queue when the event with this number comes.
    void destroyAt(int number) {
        queue->appendListener(1, [this, number](const Counted& item) {
            ++calls;
            if (item.value() == number) {
                queue.reset();
                EXPECT_EQ(item.value(), number) << "the arguments live on to the end of the call";
            }
        });
    }

    Census census;
    int calls = 0;
    std::unique_ptr<Queue> queue = std::make_unique<Queue>();
};
TYPED_TEST_SUITE(EventQueueLifetimeTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueLifetimeTest, EventsAreDestroyedWithTheQueue) {
    this->enqueue(300);
    EXPECT_TRUE(this->queue->processOne());
    EXPECT_EQ(this->census.alive(), 299U);
    this->queue.reset();
    EXPECT_EQ(this->census.alive(), 0U);
}

TYPED_TEST(EventQueueLifetimeTest, DestructorsFindAnEndingQueueEmpty) {
    struct User;
    using Queue = EventQueue<int, void(const std::shared_ptr<User>&), TypeParam>;
    struct User {
        Queue& queue;
        ~User() {
            typename Queue::QueuedEvent event;
            EXPECT_FALSE(queue.processOne() || queue.process() || queue.takeEvent(&event) ||
                         queue.peekEvent(&event) || queue.processIf([] { return true; }));
            EXPECT_FALSE(queue.enqueue(1, nullptr));
            queue.clearEvents();
            (void)queue.trim();
            EXPECT_TRUE(queue.emptyQueue());
            if (queue.emptyQueue()) {
                queue.drain();
                queue.run();
            }
        }
    };
    for (const bool isInListener : {false, true}) {
        auto queue = std::make_unique<Queue>();
        queue->appendListener(2, [&](const std::shared_ptr<User>&) { queue.reset(); });
        EXPECT_TRUE(queue->enqueue(2, nullptr));
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(queue->enqueue(1, std::shared_ptr<User>(new User{*queue})));
        }
        if (isInListener) {
            EXPECT_TRUE(queue->processOne());
        }
        queue.reset();
    }
}

TYPED_TEST(EventQueueLifetimeTest, ListenerMayDestroyTheQueueInEveryWayOfProcessing) {
    const auto prepare = [this] {
        this->queue = std::make_unique<typename TestFixture::Queue>();
        this->destroyAt(0);
        this->enqueue(3);
    };
    prepare();
    EXPECT_TRUE(this->queue->processOne());
    prepare();
    EXPECT_TRUE(this->queue->processIf([] { return true; }));
    prepare();
    EXPECT_TRUE(this->queue->processUntil([] { return false; }));
    prepare();
    this->queue->run();
    EXPECT_EQ(this->calls, 4);
    EXPECT_EQ(this->census.alive(), 0U);
}

TYPED_TEST(EventQueueLifetimeTest, PredicateMayDestroyTheQueue) {
    for (const bool answer : {false, true}) {
        const auto destroy = [this, answer](const Counted&) {
            this->queue.reset();
            return answer;
        };
        this->queue = std::make_unique<typename TestFixture::Queue>();
        this->enqueue(3);
        EXPECT_FALSE(this->queue->processIf(destroy));
        EXPECT_EQ(this->census.alive(), 0U);
        this->queue = std::make_unique<typename TestFixture::Queue>();
        this->enqueue(3);
        EXPECT_FALSE(this->queue->processUntil(destroy));
        EXPECT_EQ(this->census.alive(), 0U);
    }
}

TYPED_TEST(EventQueueLifetimeTest, NestedProcessMayDestroyTheQueueOfAllOuterOnes) {
    this->destroyAt(2);
    this->queue->appendListener(1, [this](const Counted& item) {
        if (item.value() == 0 && this->calls < 5) {
            this->enqueue(this->calls + 1);
            EXPECT_TRUE(this->queue->process());
        }
    });
    this->enqueue(2);
    EXPECT_TRUE(this->queue->process());
    EXPECT_EQ(this->queue, nullptr);
    EXPECT_EQ(this->census.alive(), 0U);
}

// ---- arguments whose destructors use the queue

/// Calls something when the last one goes.
struct Farewell {
    std::shared_ptr<void> last;
    template <class Call>
    explicit Farewell(Call call) : last(nullptr, [call](void*) { call(); }) {}
};

template <class Policies>
using FarewellQueue = EventQueue<int, void(const Farewell&), Policies>;

TYPED_TEST(EventQueueLifetimeTest, DestructorOfAnArgumentMayQueueAndProcess) {
    FarewellQueue<TypeParam> farewells;
    std::vector<int> seen;
    farewells.appendListener(2, [&](const Farewell&) { seen.push_back(2); });
    farewells.appendListener(3, [&](const Farewell&) { seen.push_back(3); });
    EXPECT_TRUE(farewells.enqueue(1, Farewell([&] {
                                      EXPECT_TRUE(farewells.enqueue(2, Farewell([] {})));
                                      EXPECT_TRUE(farewells.process());
                                  })));
    EXPECT_TRUE(farewells.enqueue(3, Farewell([] {})));
    EXPECT_TRUE(farewells.process());
    EXPECT_EQ(seen, (std::vector<int>{2, 3}));
    EXPECT_TRUE(farewells.emptyQueue());
}

TYPED_TEST(EventQueueLifetimeTest, DestructorOfAnArgumentMayDestroyTheQueue) {
    auto farewells = std::make_unique<FarewellQueue<TypeParam>>();
    EXPECT_TRUE(farewells->enqueue(1, Farewell([&] { farewells.reset(); })));
    EXPECT_TRUE(farewells->enqueue(1, Farewell([] {})));
    EXPECT_TRUE(farewells->process());
    EXPECT_EQ(farewells, nullptr);
}

}  // namespace
}  // namespace sluice

#if defined(__cpp_exceptions)

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
