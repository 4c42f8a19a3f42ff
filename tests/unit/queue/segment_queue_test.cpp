#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/segment_queue.hpp>

#include "support/testing.hpp"
#include <random>

// Limit, order and memory, beyond tests/conformance; batches are in segment_queue_batch_test.cpp.

namespace sluice {
namespace {

using namespace test;
using Queue = SegmentQueue<Building>;

static_assert(std::is_same_v<SegmentQueue<int>::value_type, int>);
static_assert(std::is_base_of_v<QueueTraits, SegmentQueueTraits>);
static_assert(!std::is_copy_constructible_v<Queue> && !std::is_copy_assignable_v<Queue>);
static_assert(std::is_default_constructible_v<Queue>, "no limit by default");
static_assert(!std::is_convertible_v<std::size_t, Queue>);

template <class AnyQueue>
std::vector<int> popAll(AnyQueue& queue) {
    std::vector<int> values;
    queue.consume([&](auto& message) { values.push_back(message.value); });
    return values;
}

// ---- limit

#if defined(__cpp_exceptions)
TEST(SegmentQueueTest, RefusesALimitOfNothing) {
    CountingResource memory;
    try {
        Queue queue(0, &memory);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()), "limit of a SegmentQueue is too small: 0, limit 1");
    }
    EXPECT_EQ(memory.allocations, 0);
}
#else
TEST(SegmentQueueDeathTest, RefusesALimitOfNothing) {
    EXPECT_DEATH(Queue(0), "limit of a SegmentQueue is too small: 0, limit 1");
}
#endif

TEST(SegmentQueueTest, WithoutALimitTakesWhateverComes) {
    SegmentQueue<int> queue;
    EXPECT_EQ(queue.capacity(), std::numeric_limits<std::size_t>::max() / 4);
    for (int i = 0; i < 100000; ++i) {
        ASSERT_EQ(queue.tryPush(i), SendResult::ok);
    }
    EXPECT_EQ(queue.sizeApprox(), 100000U);
    int next = 0;
    EXPECT_EQ(queue.consume([&](int value) { EXPECT_EQ(value, next++); }), 100000U);
}

// ---- order

TEST(SegmentQueueTest, PushTakesItsPlaceWhenItBegins) {
    Queue queue;
    EXPECT_EQ(queue.tryEmplace(1,
                               [&] {
                                   EXPECT_EQ(queue.tryEmplace(2), SendResult::ok);
                                   EXPECT_EQ(queue.sizeApprox(), 2U);
                                   EXPECT_FALSE(queue.tryPop()) << "the first one delays it";
                               }),
              SendResult::ok);
    EXPECT_EQ(popAll(queue), (std::vector<int>{1, 2}));
}

TEST(SegmentQueueTest, ConsumeHandsOutWhatWasThereWhenItBegan) {
    SegmentQueue<Tracked, TinyTraits> queue;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
    }
    std::vector<int> alive;
    EXPECT_EQ(queue.consume([&](Tracked& message) {
        alive.push_back(Tracked::alive);
        ASSERT_EQ(queue.tryEmplace(message.value + 10), SendResult::ok);
    }),
              5U);
    EXPECT_EQ(alive, (std::vector<int>{5, 5, 5, 5, 5})) << "each is destroyed after its handler";
    EXPECT_EQ(popAll(queue), (std::vector<int>{10, 11, 12, 13, 14}));
}

template <class Traits>
class SegmentQueueModelTest : public testing::Test {};
using ModelTraits = testing::Types<TinyTraits, TinyByteTraits, TinyNearWrapTraits>;
TYPED_TEST_SUITE(SegmentQueueModelTest, ModelTraits);

// Every mix of pushes, failing pushes and pops against a model, over many laps of few segments.
TYPED_TEST(SegmentQueueModelTest, BehavesAsItsModel) {
    for (const std::size_t limit : {1U, 2U, 3U, 4U, 7U, 64U}) {
        CountingResource memory;
        {
            SegmentQueue<Building, TypeParam> queue(limit, &memory);
            std::deque<int> model;
            std::mt19937 random(static_cast<unsigned>(limit));
            for (int i = 0; i < 5000; ++i) {
                const auto wanted = model.size() < limit ? SendResult::ok : SendResult::full;
                if (random() % 2 == 0) {
                    ASSERT_EQ(queue.tryEmplace(i), wanted);
                    if (wanted == SendResult::ok) {
                        model.push_back(i);
                    }
                } else if (random() % 8 != 0) {
                    const auto popped = queue.tryPop();
                    ASSERT_EQ(popped.has_value(), !model.empty());
                    if (popped) {
                        ASSERT_EQ(popped->value, model.front());
                        model.pop_front();
                    }
                } else {
                    ASSERT_EQ(popAll(queue), std::vector<int>(model.begin(), model.end()));
                    model.clear();
                }
                ASSERT_EQ(queue.sizeApprox(), model.size());
            }
            EXPECT_LE(memory.allocations, static_cast<int>(limit / 3 + 2)) << "segments are reused";
        }
        EXPECT_EQ(memory.bytesInUse, 0U);
    }
}

TYPED_TEST(SegmentQueueModelTest, LimitBeyondTheIndexRangeIsCutToIt) {
    const SegmentQueue<int, TypeParam> queue;
    EXPECT_EQ(queue.capacity(), sluice::RingPositions<typename TypeParam::Index>::maxCapacity);
}

// ---- memory

TEST(SegmentQueueMemoryTest, SegmentIsOfTheSizeAskedUnlessTheSlotsNeedMore) {
    struct Large {
        char bytes[4096];
    };
    CountingResource forSmall;
    CountingResource forLarge;
    SegmentQueue<int> small(unlimited, &forSmall);
    SegmentQueue<Large> large(unlimited, &forLarge);
    EXPECT_GT(forSmall.bytesInUse, 16000U);
    EXPECT_LT(forSmall.bytesInUse, 17000U);
    EXPECT_GE(forLarge.bytesInUse, 3 * sizeof(Large));
    EXPECT_LT(forLarge.bytesInUse, 4 * sizeof(Large));
}

TEST(SegmentQueueMemoryTest, KeepsABoundedNumberOfBytesAfterABurst) {
    CountingResource memory;
    SegmentQueue<int> queue(unlimited, &memory);
    constexpr int burst = 1000000;
    for (int i = 0; i < burst; ++i) {
        ASSERT_EQ(queue.tryPush(i), SendResult::ok);
    }
    ASSERT_GT(memory.bytesInUse, burst * sizeof(int));
    ASSERT_EQ(queue.consume([](int) {}), static_cast<std::size_t>(burst));
    EXPECT_LE(memory.bytesInUse, 2U << 20U);
}

TEST(SegmentQueueMemoryTest, TrimGivesBackWhatHoldsNothing) {
    CountingResource memory;
    SegmentQueue<Building, TinyTraits> queue(unlimited, &memory);
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
    }
    EXPECT_EQ(memory.allocations, 10);
    queue.trim();
    EXPECT_EQ(memory.deallocations, 0) << "all of them are in use";
    for (int i = 0; i < 28; ++i) {
        ASSERT_EQ(queue.tryPop()->value, i);
    }
    queue.trim();
    EXPECT_EQ(memory.deallocations, 9);
    EXPECT_EQ(popAll(queue), (std::vector<int>{28, 29}));
    queue.trim();
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
    }
    EXPECT_EQ(popAll(queue).size(), 30U);
}

TEST(SegmentQueueMemoryTest, MemoryResourceIsCalledWithoutTheLock) {
    struct Closing : CountingResource {
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            if (queue != nullptr) {
                queue->close();
            }
            return CountingResource::do_allocate(bytes, alignment);
        }
        SegmentQueue<int, TinyTraits>* queue = nullptr;
    };
    Closing memory;
    {
        SegmentQueue<int, TinyTraits> queue(unlimited, &memory);
        memory.queue = &queue;
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(queue.tryPush(i), SendResult::ok);
        }
        EXPECT_EQ(queue.tryPush(3), SendResult::closed) << "closed while it asked for memory";
    }
    EXPECT_EQ(memory.bytesInUse, 0U);
}

#if defined(__cpp_exceptions)
TEST(SegmentQueueMemoryTest, PushWithoutMemoryChangesNothing) {
    CountingResource memory;
    SegmentQueue<Building, TinyTraits> queue(unlimited, &memory);
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
    }
    memory.allocationsLeft = 0;
    EXPECT_THROW((void)queue.tryEmplace(3), std::bad_alloc);
    EXPECT_THROW((void)queue.tryEmplace(3), std::bad_alloc);
    EXPECT_EQ(queue.sizeApprox(), 3U);
    memory.allocationsLeft = CountingResource::endless;
    ASSERT_EQ(queue.tryEmplace(4), SendResult::ok);
    EXPECT_EQ(popAll(queue), (std::vector<int>{0, 1, 2, 4}));
}
#endif

#ifndef NDEBUG
TEST(SegmentQueueDeathTest, HandlerThatConsumesFromItsOwnQueue) {
    Queue queue;
    ASSERT_EQ(queue.tryEmplace(1), SendResult::ok);
    const char* const advice = "let one thread at a time consume";
    EXPECT_DEATH(queue.consume([&](Building&) { (void)queue.tryPop(); }), advice);
}
#endif

}  // namespace
}  // namespace sluice
