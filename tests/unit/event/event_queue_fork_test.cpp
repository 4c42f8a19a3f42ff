#include "support/crew.hpp"
#include "support/forks.hpp"

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>

#if SLUICE_TEST_FORKS

namespace sluice {
namespace {

struct CountedPolicies {
    static constexpr bool statistics = true;
};
using Queue = EventQueue<int, void(const std::string&), CountedPolicies>;

/// Whether the queue does everything, and its counts agree.
bool isUsable(Queue& queue) {
    queue.process();
    bool isHandled = false;
    queue.appendListener(7, [&isHandled](const std::string&) { isHandled = true; });
    const bool isQueued = queue.enqueue(7, "a string that is too long for its small buffer");
    Queue::QueuedEvent first;
    const bool isSeen = queue.peekEvent(&first);
    queue.process();
    queue.drain();
    const EventQueueStatistics counts = queue.statistics();
    return isQueued && isSeen && isHandled && queue.emptyQueue() && queue.trim() != 0 &&
           counts.enqueued == counts.processed + counts.discarded + counts.queued;
}

void expectThatChildrenCanUseIt(const EventQueueOptions& options) {
    Queue queue(options);
    std::atomic<std::size_t> length{0};
    queue.appendListener(1, [&](const std::string& text) { length += text.size(); });
    std::atomic<bool> isOver{false};
    test::Crew producers;
    producers.add([&] {
        while (!isOver) {
            (void)queue.enqueue(1, "a string that is too long for its small buffer");
        }
    });
    test::Crew consumers;
    consumers.add([&] {
        Queue::QueuedEvent first;
        while (!queue.isClosed() || !queue.emptyQueue()) {
            (void)queue.peekEvent(&first);
            queue.processOne();
            queue.process();
        }
    });
    producers.start();
    consumers.start();
    for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(test::isTrueInChild([&] { return isUsable(queue); })) << round;
    }
    isOver = true;
    producers.join();
    queue.close();
    consumers.join();
    const EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.enqueued, counts.processed + counts.discarded);
}

TEST(EventQueueForkTest, ChildUsesAQueueThatOtherThreadsWereUsing) {
    EventQueueOptions options;
    options.limit = 1000;
    options.overflow = Overflow::dropOldest;
    expectThatChildrenCanUseIt(options);
}

// An event that a thread of the parent was adding takes no room in the child.
TEST(EventQueueForkTest, ChildUsesAFullQueue) {
    EventQueueOptions options;
    options.limit = 1;
    options.overflow = Overflow::block;
    expectThatChildrenCanUseIt(options);
}

TEST(EventQueueForkTest, ChildIsNotBusyWithWhatOtherThreadsHandle) {
    Queue queue;
    std::atomic<int> step{0};
    queue.appendListener(1, [&](const std::string&) {
        int expected = 0;
        step.compare_exchange_strong(expected, 1);
        test::awaitThat([&] { return step == 2; });
    });
    (void)queue.enqueue(1, "blocked");
    (void)queue.enqueue(1, "behind it");
    test::Crew crew;
    crew.add([&] { queue.process(); });
    crew.start();
    test::awaitThat([&] { return step == 1; });
    EXPECT_TRUE(test::isTrueInChild(
        [&] { return queue.emptyQueue() && queue.discardedCount() == 2 && isUsable(queue); }));
    EXPECT_EQ(queue.discardedCount(), 0U);
    step = 2;
}

TEST(EventQueueForkTest, ChildGoesOnWithTheEventsOfTheListenerThatForked) {
    Queue queue;
    pid_t child = -1;
    int handled = 0;
    queue.appendListener(1, [&](const std::string&) {
        child = test::limitedFork();
        EXPECT_FALSE(queue.emptyQueue());
    });
    queue.appendListener(2, [&](const std::string&) { ++handled; });
    (void)queue.enqueue(1, "forks");
    (void)queue.enqueue(2, "follows");
    queue.process();
    if (child == 0) {
        test::endChild(handled == 1 && queue.emptyQueue() && isUsable(queue));
    }
    EXPECT_TRUE(test::endedWell(child));
    EXPECT_EQ(handled, 1);
}

}  // namespace
}  // namespace sluice

#endif
