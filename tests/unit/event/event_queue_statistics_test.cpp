#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/event/event_queue_statistics.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

using namespace test;

template <class Base>
struct Counting : Base {
    static constexpr bool statistics = true;
};
template <class Base>
struct NotCounting : Base {
    static constexpr bool statistics = false;
};

template <class Policies>
using Queue = EventQueue<int, void(int), Policies>;

static_assert(sizeof(Queue<NotCounting<DefaultPolicies>>) == sizeof(Queue<DefaultPolicies>));

template <class Policies>
class EventQueueStatisticsTest : public testing::Test {};
TYPED_TEST_SUITE(EventQueueStatisticsTest, CommonQueuePolicies, QueuePolicyNames);

void expectBalance(const EventQueueStatistics& counts, std::uint64_t inHand = 0) {
    EXPECT_EQ(counts.enqueued, counts.processed + counts.discarded + counts.queued + inHand);
}

TYPED_TEST(EventQueueStatisticsTest, BeginWithNothing) {
    const Queue<Counting<TypeParam>> queue;
    const EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.enqueued + counts.rejected + counts.discarded + counts.processed, 0U);
    EXPECT_EQ(counts.queued + counts.highWater, 0U);
}

TYPED_TEST(EventQueueStatisticsTest, CountWhatIsAcceptedAndProcessedInAnyWay) {
    Queue<Counting<TypeParam>> queue;
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(queue.enqueue(i));
    }
    typename Queue<Counting<TypeParam>>::QueuedEvent event{};
    EXPECT_TRUE(queue.peekEvent(&event));
    EXPECT_TRUE(queue.takeEvent(&event));
    EXPECT_TRUE(queue.processOne());
    EXPECT_TRUE(queue.processOneWith([](int, int) {}));
    EXPECT_TRUE(queue.processIf([](int number) { return number == 5; }));
    EXPECT_TRUE(queue.processUntil([](int number) { return number == 6; }));
    EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.enqueued, 10U);
    EXPECT_EQ(counts.processed, 6U);
    EXPECT_EQ(counts.queued, 4U);
    EXPECT_EQ(counts.highWater, 10U);
    expectBalance(counts);
    EXPECT_TRUE(queue.process());
    counts = queue.statistics();
    EXPECT_EQ(counts.processed, 10U);
    EXPECT_EQ(counts.queued, 0U);
}

TYPED_TEST(EventQueueStatisticsTest, CountWhatIsRefusedOnceForEachAttempt) {
    Queue<Counting<TypeParam>> queue(EventQueueOptions{2});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(queue.enqueue(i), i < 2);
    }
    EXPECT_EQ(queue.statistics().rejected, 3U);
    EXPECT_TRUE(queue.process());
    queue.close();
    EXPECT_FALSE(queue.enqueue(1));
    const EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.rejected, 4U);
    EXPECT_EQ(counts.enqueued, 2U);
    EXPECT_EQ(counts.highWater, 2U);
    expectBalance(counts);
}

TYPED_TEST(EventQueueStatisticsTest, CountWhatMadeRoomAndWhatWasCleared) {
    Queue<Counting<TypeParam>> queue(EventQueueOptions{2, Overflow::dropOldest});
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(queue.enqueue(i));
    }
    EXPECT_EQ(queue.statistics().discarded, 3U);
    EXPECT_EQ(queue.discardedCount(), 3U);
    queue.clearEvents();
    const EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.discarded, 5U);
    EXPECT_EQ(counts.processed, 0U);
    EXPECT_EQ(counts.rejected, 0U);
    expectBalance(counts);
}

TYPED_TEST(EventQueueStatisticsTest, EventsInHandAreTheDifference) {
    Queue<Counting<TypeParam>> queue;
    int calls = 0;
    queue.appendListener(1, [&](int) {
        ++calls;
        expectBalance(queue.statistics(), 3);
    });
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(queue.enqueue(1));
    }
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(calls, 3);
    expectBalance(queue.statistics());
}

TYPED_TEST(EventQueueStatisticsTest, EventsThatComeBackCountForTheHighWaterMark) {
    Queue<Counting<TypeParam>> queue;
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_TRUE(queue.enqueue(2));
    EXPECT_FALSE(queue.processIf([&](int number) {
        EXPECT_TRUE(queue.enqueue(number + 2));
        return false;
    }));
    const EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.highWater, 4U);
    EXPECT_EQ(counts.queued, 4U);
    EXPECT_EQ(counts.processed, 0U);
}

}  // namespace
}  // namespace sluice
