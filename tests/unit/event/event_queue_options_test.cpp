#include "support/crew.hpp"
#include "support/payloads.hpp"
#include "support/watchdog.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/event/event_queue_options.hpp>

#include "support/testing.hpp"

// Queues with a limit.

namespace sluice {
namespace {

using namespace test;
using Numbers = std::vector<int>;

/// A queue with room for three, whose listeners note what they are called with.
template <class Policies>
class BoundedEventQueueTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(int), Policies>;

    void use(Overflow overflow) {
        queue = std::make_unique<Queue>(EventQueueOptions{3, overflow});
        for (int event = 0; event < 10; ++event) {
            queue->appendListener(event, [this](int number) { seen.push_back(number); });
        }
    }

    /// How many were accepted.
    int enqueue(std::initializer_list<int> numbers) {
        int accepted = 0;
        for (const int number : numbers) {
            accepted += queue->enqueue(number) ? 1 : 0;
        }
        return accepted;
    }

    Numbers processed() {
        (void)queue->process();
        Numbers result;
        result.swap(seen);
        return result;
    }

    std::unique_ptr<Queue> queue;
    Numbers seen;
};
TYPED_TEST_SUITE(BoundedEventQueueTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(BoundedEventQueueTest, RejectedArgumentsAreUntouched) {
    EventQueue<int, void(const std::unique_ptr<int>&), TypeParam> pointers(EventQueueOptions{1});
    auto kept = std::make_unique<int>(5);
    EXPECT_TRUE(pointers.enqueue(1, std::make_unique<int>(4)));
    EXPECT_FALSE(pointers.enqueue(1, std::move(kept)));
    ASSERT_NE(kept, nullptr);
    pointers.clearEvents();
    pointers.close();
    EXPECT_FALSE(pointers.enqueue(1, std::move(kept)));
    EXPECT_NE(kept, nullptr);
}

TYPED_TEST(BoundedEventQueueTest, EventsThatAreBeingProcessedTakeNoRoom) {
    this->use(Overflow::reject);
    this->queue->appendListener(1, [this](int) { EXPECT_EQ(this->enqueue({7, 8, 9, 5}), 3); });
    EXPECT_EQ(this->enqueue({1, 2, 3}), 3);
    EXPECT_EQ(this->processed(), (Numbers{1, 2, 3}));
    EXPECT_EQ(this->processed(), (Numbers{7, 8, 9}));
}

// ---- the oldest makes room

TYPED_TEST(BoundedEventQueueTest, DropsAsManyAsTheLimitAsksWhenEventsCameBack) {
    this->use(Overflow::dropOldest);
    EXPECT_EQ(this->enqueue({1, 2, 3}), 3);
    EXPECT_FALSE(this->queue->processIf([this](int number) {
        EXPECT_EQ(this->enqueue({number + 5}), 1);
        return false;
    }));
    EXPECT_EQ(this->queue->sizeApprox(), 6U);
    EXPECT_EQ(this->enqueue({9}), 1);
    EXPECT_EQ(this->queue->statistics().discarded, 4U);
    EXPECT_EQ(this->processed(), (Numbers{7, 8, 9}));
}

TYPED_TEST(BoundedEventQueueTest, DroppedArgumentsAreDestroyedAtOnce) {
    Census census;
    EventQueue<int, void(const Counted&), TypeParam> counted(
        EventQueueOptions{2, Overflow::dropOldest});
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(counted.enqueue(1, Counted(census, i)));
        EXPECT_LE(census.alive(), 2U);
    }
    EXPECT_EQ(counted.statistics().discarded, 8U);
    Numbers left;
    EXPECT_TRUE(
        counted.processQueueWith([&](int, const Counted& item) { left.push_back(item.value()); }));
    EXPECT_EQ(left, (Numbers{8, 9}));
}

TYPED_TEST(BoundedEventQueueTest, ClosedQueueDropsNothing) {
    this->use(Overflow::dropOldest);
    EXPECT_EQ(this->enqueue({1, 2, 3}), 3);
    this->queue->close();
    EXPECT_EQ(this->enqueue({4}), 0);
    EXPECT_EQ(this->queue->statistics().discarded, 0U);
    EXPECT_EQ(this->processed(), (Numbers{1, 2, 3}));
}

// There is nothing to drop when the only room belongs to an event that is being built.
TYPED_TEST(BoundedEventQueueTest, RejectsWhenAllRoomBelongsToArgumentsThatAreBeingBuilt) {
    struct Nested {
        EventQueue<int, void(const Nested&), TypeParam>* queue;
        explicit Nested(EventQueue<int, void(const Nested&), TypeParam>* own) : queue(own) {}
        Nested(const Nested& other) : queue(nullptr) {
            if (other.queue != nullptr) {
                const Nested second(nullptr);
                EXPECT_FALSE(other.queue->enqueue(2, second));
            }
        }
        Nested& operator=(const Nested&) = delete;
        ~Nested() = default;
    };
    EventQueue<int, void(const Nested&), TypeParam> nested(
        EventQueueOptions{1, Overflow::dropOldest});
    const Nested first(&nested);
    EXPECT_TRUE(nested.enqueue(1, first));
    EXPECT_EQ(nested.sizeApprox(), 1U);
    EXPECT_EQ(nested.statistics().discarded, 0U);
}

// ---- producers wait

template <class Policies>
class BlockingEventQueueTest : public testing::Test {};
TYPED_TEST_SUITE(BlockingEventQueueTest, CommonSharedQueuePolicies, QueuePolicyNames);

TYPED_TEST(BlockingEventQueueTest, DropsNothingIfAllRoomIsReserved) {
    const Watchdog watchdog([](std::FILE*) {});
    struct Slow {
        std::atomic<int>* stage;
        explicit Slow(std::atomic<int>* own) : stage(own) {}
        Slow(const Slow& other) : stage(nullptr) {
            if (other.stage != nullptr) {
                *other.stage = 1;
                awaitThat([&] { return *other.stage == 2; });
            }
        }
    };
    EventQueue<int, void(const Slow&), TypeParam> queue(EventQueueOptions{1, Overflow::dropOldest});
    std::atomic<int> stage{0};
    EXPECT_TRUE(queue.enqueue(1, Slow(nullptr)));
    Crew producer;
    producer.add([&] { EXPECT_TRUE(queue.enqueue(2, Slow(&stage))); });
    EXPECT_FALSE(queue.processIf([&] {
        producer.start();
        awaitThat([&] { return stage == 1; });
        return false;  // the first event exceeds the limit then
    }));
    EXPECT_FALSE(queue.enqueue(3, Slow(nullptr))) << "it would have to wait for the second one";
    EXPECT_EQ(queue.statistics().discarded, 0U);
    stage = 2;
    producer.join();
    EXPECT_EQ(queue.sizeApprox(), 2U);
}

TYPED_TEST(BlockingEventQueueTest, ProducersWaitForRoomAndNothingIsLostOrReordered) {
    constexpr int each = 300;
    EventQueue<int, void(int), TypeParam> queue(EventQueueOptions{2, Overflow::block});
    Numbers seen[2];
    const Watchdog watchdog(
        [&](std::FILE* out) { std::fprintf(out, "size %zu\n", queue.sizeApprox()); });
    Crew producers;
    for (int self = 0; self < 2; ++self) {
        producers.add([&queue, self] {
            for (int i = 0; i < each; ++i) {
                EXPECT_TRUE(queue.enqueue(self, i));
            }
        });
    }
    producers.start();
    const auto note = [&](int self, int number) { seen[self].push_back(number); };
    while (seen[0].size() + seen[1].size() < std::size_t{2} * each) {
        queue.wait();
        EXPECT_LE(queue.sizeApprox(), 2U);
        (void)(seen[0].size() % 2 == 0 ? queue.processOneWith(note) : queue.processQueueWith(note));
    }
    for (int i = 0; i < each; ++i) {
        EXPECT_EQ(seen[0].at(size_t(i)), i);
        EXPECT_EQ(seen[1].at(size_t(i)), i);
    }
    producers.join();
    EXPECT_TRUE(queue.emptyQueue());
}

TYPED_TEST(BlockingEventQueueTest, CloseTurnsWaitingProducersAway) {
    EventQueue<int, void(const std::unique_ptr<int>&), TypeParam> queue(
        EventQueueOptions{1, Overflow::block});
    EXPECT_TRUE(queue.enqueue(1, std::make_unique<int>(0)));
    const Watchdog watchdog([](std::FILE*) {});
    std::atomic<int> refused{0};
    Crew producers;
    for (int i = 0; i < 3; ++i) {
        producers.add([&] {
            auto argument = std::make_unique<int>(1);
            refused += queue.enqueue(1, std::move(argument)) ? 0 : 1;
            EXPECT_NE(argument, nullptr);
        });
    }
    producers.start();
    queue.close();
    producers.join();
    EXPECT_EQ(refused.load(), 3);
    EXPECT_EQ(queue.sizeApprox(), 1U);
}

#if defined(__cpp_exceptions)
// The room that an argument gives back is heard of.
TYPED_TEST(BlockingEventQueueTest, ProducerGoesOnWhenAnotherOnesArgumentCannotBeBuilt) {
    struct Gate {
        std::atomic<bool>* mayThrow = nullptr;
        explicit Gate(std::atomic<bool>* own) : mayThrow(own) {}
        Gate(const Gate& other) {
            if (other.mayThrow != nullptr) {
                awaitThat([&] { return other.mayThrow->load(); });
                throw Breakage("a constructor");
            }
        }
        Gate& operator=(const Gate&) = delete;
        ~Gate() = default;
    };
    EventQueue<int, void(const Gate&), TypeParam> queue(EventQueueOptions{1, Overflow::block});
    const Watchdog watchdog([](std::FILE*) {});
    std::atomic<bool> mayThrow{false};
    Crew producers;
    producers.add([&] {
        const Gate gate(&mayThrow);
        EXPECT_THROW(queue.enqueue(1, gate), Breakage);
    });
    producers.start();
    awaitThat([&] { return !queue.emptyQueue(); });
    producers.add([&] {
        const Gate gate(nullptr);
        EXPECT_TRUE(queue.enqueue(1, gate));
    });
    mayThrow = true;
    producers.join();
    EXPECT_EQ(queue.sizeApprox(), 1U);
}
#endif

using namespace test;

template <class Policies>
using Queue = EventQueue<int, void(int), Policies>;

template <class Policies>
class EventQueueStatisticsTest : public testing::Test {};
TYPED_TEST_SUITE(EventQueueStatisticsTest, CommonQueuePolicies, QueuePolicyNames);

void expectBalance(const EventQueueStatistics& counts, std::uint64_t inHand = 0) {
    EXPECT_EQ(counts.enqueued, counts.processed + counts.discarded + counts.queued + inHand);
}

TYPED_TEST(EventQueueStatisticsTest, CountWhatIsAcceptedAndProcessedInAnyWay) {
    Queue<TypeParam> queue;
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(queue.enqueue(i));
    }
    typename Queue<TypeParam>::QueuedEvent event{};
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
    Queue<TypeParam> queue(EventQueueOptions{2});
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
    Queue<TypeParam> queue(EventQueueOptions{2, Overflow::dropOldest});
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(queue.enqueue(i));
    }
    EXPECT_EQ(queue.statistics().discarded, 3U);
    queue.clearEvents();
    const EventQueueStatistics counts = queue.statistics();
    EXPECT_EQ(counts.discarded, 5U);
    EXPECT_EQ(counts.processed, 0U);
    EXPECT_EQ(counts.rejected, 0U);
    expectBalance(counts);
}

TYPED_TEST(EventQueueStatisticsTest, EventsInHandAreTheDifference) {
    Queue<TypeParam> queue;
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

}  // namespace
}  // namespace sluice
