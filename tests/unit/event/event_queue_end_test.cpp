#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/wait/batch_pacing.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

// drain() and run(): until everything has been processed.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

template <class Policies>
class EventQueueEndTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(int), Policies>;
    Watchdog watchdog{[](std::FILE*) {}};
};
TYPED_TEST_SUITE(EventQueueEndTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueEndTest, EmptyQueueIsDrained) {
    typename TestFixture::Queue queue;
    queue.drain();
    EXPECT_TRUE(queue.drainFor(0ns));
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_FALSE(queue.drainFor(0ns));
    EXPECT_FALSE(queue.drainFor(1us));
    queue.clearEvents();
    queue.drain();
}

TYPED_TEST(EventQueueEndTest, RunProcessesWhatIsThereAndReturnsWhenTheQueueIsClosed) {
    typename TestFixture::Queue queue;
    std::vector<int> seen;
    queue.appendListener(1, [&](int number) {
        seen.push_back(number);
        if (number == 1) {
            EXPECT_TRUE(queue.enqueue(1, 3));
            queue.close();
            EXPECT_FALSE(queue.enqueue(1, 4));
        }
    });
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_TRUE(queue.enqueue(1, 2));
    queue.run();
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
    queue.run();
    EXPECT_TRUE(queue.emptyQueue());
}

/// Notes the sizes of the harvests that it is told.
struct NotingPacing {
    std::vector<std::size_t>* harvests;
    void polled(std::size_t count) const { harvests->push_back(count); }
};

TYPED_TEST(EventQueueEndTest, RunTellsThePacingTheSizeOfEachBatch) {
    typename TestFixture::Queue queue;
    queue.appendListener(1, [&](int) {
        EXPECT_TRUE(queue.enqueue(2));
        queue.close();
    });
    EXPECT_TRUE(queue.enqueue(2));
    EXPECT_TRUE(queue.enqueue(1));
    std::vector<std::size_t> harvests;
    queue.run(NotingPacing{&harvests});
    EXPECT_EQ(harvests, (std::vector<std::size_t>{2, 1}));
}

TYPED_TEST(EventQueueEndTest, RunWithGivesEventsToAVisitor) {
    typename TestFixture::Queue queue;
    std::vector<int> visited;
    EXPECT_TRUE(queue.enqueue(1, 5));
    EXPECT_TRUE(queue.enqueue(2, 6));
    queue.runWith(
        [&](int event, int number) {
            visited.push_back(event);
            visited.push_back(number);
            queue.close();
        },
        NoPacing());
    EXPECT_EQ(visited, (std::vector<int>{1, 5, 2, 6}));
}

// ---- with other threads

template <class Policies>
class SharedEventQueueEndTest : public EventQueueEndTest<Policies> {};
TYPED_TEST_SUITE(SharedEventQueueEndTest, CommonSharedQueuePolicies, QueuePolicyNames);

TYPED_TEST(SharedEventQueueEndTest, DrainWaitsForTheLastListener) {
    typename TestFixture::Queue queue;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayEnd{false};
    int handled = 0;
    queue.appendListener(1, [&](int) {
        isInside = true;
        awaitThat([&] { return mayEnd.load(); });
        ++handled;
    });
    EXPECT_TRUE(queue.enqueue(1));
    Crew crew;
    crew.add([&] { EXPECT_TRUE(queue.process()); });
    crew.start();
    awaitThat([&] { return isInside.load(); });
    EXPECT_FALSE(queue.drainFor(1us));
    for (int i = 0; i < 3; ++i) {
        crew.add([&] {
            queue.drain();
            EXPECT_EQ(handled, 1);
        });
        crew.add([&] {
            EXPECT_TRUE(queue.drainFor(1h));
            EXPECT_EQ(handled, 1);
        });
    }
    mayEnd = true;
    crew.join();
}

/// Copying one takes until the gate is opened.
struct Gate {
    std::atomic<bool>* isOpen = nullptr;
    std::atomic<bool>* isReached = nullptr;
    Gate(std::atomic<bool>* own, std::atomic<bool>* reached) : isOpen(own), isReached(reached) {}
    Gate() = default;
    Gate(const Gate& other) { pass(other); }
    Gate& operator=(const Gate& other) {  // NOLINT(bugprone-unhandled-self-assignment)
        pass(other);
        return *this;
    }
    ~Gate() = default;

    static void pass(const Gate& other) {
        if (other.isOpen != nullptr) {
            *other.isReached = true;
            awaitThat([&] { return other.isOpen->load(); });
        }
    }
};

TYPED_TEST(SharedEventQueueEndTest, EventThatIsBeingAddedKeepsTheQueueBusy) {
    EventQueue<int, void(const Gate&), TypeParam> queue;
    std::atomic<bool> isOpen{false};
    std::atomic<bool> isReached{false};
    Crew crew;
    crew.add([&] {
        const Gate gate(&isOpen, &isReached);
        EXPECT_TRUE(queue.enqueue(1, gate)) << "closed after it was admitted";
    });
    crew.start();
    awaitThat([&] { return isReached.load(); });
    EXPECT_FALSE(queue.emptyQueue());
    EXPECT_FALSE(queue.drainFor(0ns));
    queue.close();
    int events = 0;
    crew.add([&] { isOpen = true; });
    queue.runWith([&](int, const Gate&) { ++events; });
    EXPECT_EQ(events, 1);
    crew.join();
}

/// Assigning one takes until the gate is opened.
struct SlowToAssign {
    Gate gate;
    SlowToAssign() = default;
    SlowToAssign(std::atomic<bool>* own, std::atomic<bool>* reached) : gate(own, reached) {}
    SlowToAssign(const SlowToAssign& other) : gate(other.gate.isOpen, other.gate.isReached) {}
    SlowToAssign& operator=(const SlowToAssign&) = default;
    ~SlowToAssign() = default;
};

TYPED_TEST(SharedEventQueueEndTest, EventIsNotOvertakenWhileSomebodyPeeksAtIt) {
    EventQueue<int, void(const SlowToAssign&), TypeParam> queue(
        EventQueueOptions{2, Overflow::dropOldest});
    std::atomic<bool> isOpen{false};
    std::atomic<bool> isReached{false};
    EXPECT_TRUE(queue.enqueue(1, SlowToAssign(&isOpen, &isReached)));
    EXPECT_TRUE(queue.enqueue(2, SlowToAssign()));
    Crew crew;
    crew.add([&] {
        typename decltype(queue)::QueuedEvent event{};
        EXPECT_TRUE(queue.peekEvent(&event));
        EXPECT_EQ(event.event, 1);
    });
    crew.start();
    awaitThat([&] { return isReached.load(); });
    EXPECT_EQ(queue.sizeApprox(), 2U) << "it has not left its place";
    std::vector<int> order;
    const auto note = [&](int number, const SlowToAssign&) {
        EXPECT_TRUE(isOpen.load()) << "nothing is taken out meanwhile";
        order.push_back(number);
    };
    crew.add([&] { isOpen = true; });
    EXPECT_TRUE(queue.processOneWith(note));
    EXPECT_TRUE(queue.processOneWith(note));
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TYPED_TEST(SharedEventQueueEndTest, OldestEventIsNotDroppedWhileSomebodyPeeksAtIt) {
    EventQueue<int, void(const SlowToAssign&), TypeParam> queue(
        EventQueueOptions{1, Overflow::dropOldest});
    std::atomic<bool> isOpen{false};
    std::atomic<bool> isReached{false};
    EXPECT_TRUE(queue.enqueue(1, SlowToAssign(&isOpen, &isReached)));
    Crew crew;
    crew.add([&] {
        typename decltype(queue)::QueuedEvent event{};
        EXPECT_TRUE(queue.peekEvent(&event));
    });
    crew.start();
    awaitThat([&] { return isReached.load(); });
    crew.add([&] { isOpen = true; });
    EXPECT_TRUE(queue.enqueue(2, SlowToAssign())) << "as soon as it may";
    EXPECT_TRUE(isOpen.load());
    EXPECT_EQ(queue.discardedCount(), 1U);
}

TYPED_TEST(SharedEventQueueEndTest, SeveralThreadsRunUntilAllHasBeenProcessed) {
    constexpr int each = 500;
    typename TestFixture::Queue queue;
    std::vector<std::atomic<int>> calls(std::size_t{3} * each);
    queue.appendListener(1, [&](int number) { ++calls.at(static_cast<std::size_t>(number)); });
    Crew consumers;
    for (int i = 0; i < 3; ++i) {
        consumers.add([&] {
            queue.run();
            EXPECT_TRUE(queue.emptyQueue());
        });
    }
    {
        Crew producers;
        for (int self = 0; self < 3; ++self) {
            producers.add([&, self] {
                for (int i = 0; i < each; ++i) {
                    EXPECT_TRUE(queue.enqueue(1, self * each + i));
                }
            });
        }
        consumers.start();
    }
    queue.close();
    consumers.join();
    for (const auto& count : calls) {
        ASSERT_EQ(count.load(), 1);
    }
}

// ---- one thread has nobody to wait for

TEST(EventQueueSingleThreadDeathTest, WaitThatWouldNeverEndSaysSo) {
    EventQueue<int, void(int), SingleThreadPolicies> queue;
    EXPECT_DEATH(queue.wait(), "SingleThreading never ends");
    EXPECT_DEATH(queue.run(), "SingleThreading never ends");
    EventQueue<int, void(int), SingleThreadPolicies> bounded(EventQueueOptions{1, Overflow::block});
    EXPECT_TRUE(bounded.enqueue(1));
    EXPECT_DEATH((void)bounded.enqueue(1), "SingleThreading never ends");
    EXPECT_DEATH(bounded.drain(), "SingleThreading never ends");
    bounded.wait();
}

TEST(EventQueueSingleThreadTest, TimesPass) {
    const auto begin = std::chrono::steady_clock::now();
    EventQueue<int, void(int), SingleThreadPolicies> queue;
    EXPECT_FALSE(queue.waitFor(1ms));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 1ms);
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_FALSE(queue.drainFor(1ms));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
    EXPECT_TRUE(queue.waitFor(1h));
}

}  // namespace
}  // namespace sluice
