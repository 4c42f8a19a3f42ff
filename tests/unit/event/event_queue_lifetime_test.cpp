#include "support/payloads.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

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

TYPED_TEST(EventQueueLifetimeTest, ListenerMayDestroyTheQueueThatCallsIt) {
    this->destroyAt(2);
    this->enqueue(5);
    EXPECT_TRUE(this->queue->process());
    EXPECT_EQ(this->calls, 3) << "the rest is not dispatched";
    EXPECT_EQ(this->census.alive(), 0U);
}

TYPED_TEST(EventQueueLifetimeTest, EventsQueuedMeanwhileGoWithTheQueue) {
    this->queue->appendListener(1, [this](const Counted& item) {
        if (item.value() == 0) {
            this->enqueue(3);
        }
    });
    this->destroyAt(1);
    this->enqueue(4);
    EXPECT_TRUE(this->queue->process());
    EXPECT_EQ(this->census.alive(), 0U);
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

TYPED_TEST(EventQueueLifetimeTest, ListenerMayDestroyTheQueueAfterSomeWereKept) {
    this->destroyAt(3);
    this->enqueue(6);
    EXPECT_TRUE(this->queue->processIf([](const Counted& item) { return item.value() % 3 == 0; }));
    EXPECT_EQ(this->calls, 2);
    EXPECT_EQ(this->census.alive(), 0U);
}

TYPED_TEST(EventQueueLifetimeTest, VisitorMayDestroyTheQueue) {
    this->enqueue(3);
    EXPECT_TRUE(this->queue->processQueueWith([this](int, const Counted& item) {
        this->queue.reset();
        EXPECT_EQ(item.value(), 0);
    }));
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

TYPED_TEST(EventQueueLifetimeTest, QueueIsUsedAgainAfterManyNestedRounds) {
    int depth = 0;
    this->queue->appendListener(1, [&](const Counted&) {
        if (++depth < 50) {
            this->enqueue(2);
            (void)this->queue->process();
        }
    });
    this->enqueue(2);
    EXPECT_TRUE(this->queue->process());
    EXPECT_EQ(this->census.alive(), 0U);
    EXPECT_TRUE(this->queue->emptyQueue());
    this->enqueue(400);
    EXPECT_TRUE(this->queue->process());
    EXPECT_EQ(this->census.alive(), 0U);
}

#if defined(__cpp_exceptions)

TYPED_TEST(EventQueueLifetimeTest, ListenerMayDestroyTheQueueAndThrow) {
    this->queue->appendListener(1, [this](const Counted& item) {
        if (item.value() == 1) {
            this->queue.reset();
            throw Breakage("a listener");
        }
    });
    this->enqueue(3);
    EXPECT_THROW(this->queue->process(), Breakage);
    EXPECT_EQ(this->census.alive(), 0U);
}

TYPED_TEST(EventQueueLifetimeTest, ListenerMayDestroyTheQueueAndThrowOutOfANestedProcess) {
    this->queue->appendListener(1, [this](const Counted& item) {
        if (item.value() == 0) {
            EXPECT_TRUE(this->queue->enqueue(2, Counted(this->census, 9)));
            (void)this->queue->process();
        }
    });
    this->queue->appendListener(2, [this](const Counted&) {
        this->enqueue(1);
        this->queue.reset();
        throw Breakage("a listener");
    });
    this->enqueue(3);
    EXPECT_THROW(this->queue->process(), Breakage);
    EXPECT_EQ(this->census.alive(), 0U);
}

#endif

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

TYPED_TEST(EventQueueLifetimeTest, AcceptsNoEventWhileItIsDestroyed) {
    auto farewells = std::make_unique<FarewellQueue<TypeParam>>();
    FarewellQueue<TypeParam>& dying = *farewells;
    bool isTried = false;
    EXPECT_TRUE(dying.enqueue(1, Farewell([&] {
                                  isTried = true;
                                  EXPECT_FALSE(dying.enqueue(1, Farewell([] {})));
                              })));
    farewells.reset();
    EXPECT_TRUE(isTried);
}

TYPED_TEST(EventQueueLifetimeTest, ConstructorOfAnArgumentMayUseTheQueue) {
    struct Recursive {
        EventQueue<int, void(const Recursive&), TypeParam>* queue;
        explicit Recursive(EventQueue<int, void(const Recursive&), TypeParam>* own) : queue(own) {}
        Recursive(const Recursive& other) : queue(nullptr) {
            if (other.queue != nullptr) {
                const Recursive last(nullptr);
                EXPECT_TRUE(other.queue->enqueue(2, last));
                EXPECT_FALSE(other.queue->emptyQueue());
            }
        }
        Recursive& operator=(const Recursive&) = delete;
        ~Recursive() = default;
    };
    EventQueue<int, void(const Recursive&), TypeParam> recursive;
    const Recursive first(&recursive);
    EXPECT_TRUE(recursive.enqueue(1, first));
    std::vector<int> order;
    EXPECT_TRUE(
        recursive.processQueueWith([&](int event, const Recursive&) { order.push_back(event); }));
    EXPECT_EQ(order, (std::vector<int>{2, 1})) << "the inner one was complete first";
}

}  // namespace
}  // namespace sluice
