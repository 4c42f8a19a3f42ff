#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <vector>

// When a SegmentQueue asks for memory and gives it back.

namespace sluice {
namespace {

using namespace test;

std::vector<int> popAll(SegmentQueue<Building, TinyTraits>& queue) {
    std::vector<int> values;
    queue.consume([&](Building& message) { values.push_back(message.value); });
    return values;
}

TEST(SegmentQueueMemoryTest, ConstructorAllocatesTheFirstSegment) {
    CountingResource memory;
    {
        SegmentQueue<int, TinyTraits> queue(unlimited, &memory);
        EXPECT_EQ(memory.allocations, 1);
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(queue.tryPush(i), SendResult::ok);
        }
        EXPECT_EQ(memory.allocations, 1);
        ASSERT_EQ(queue.tryPush(3), SendResult::ok);
        EXPECT_EQ(memory.allocations, 2) << "three slots in each";
    }
    EXPECT_EQ(memory.deallocations, 2);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(SegmentQueueMemoryTest, UsesTheDefaultResource) {
    CountingResource memory;
    std::pmr::memory_resource* const before = std::pmr::set_default_resource(&memory);
    { SegmentQueue<int> queue; }
    std::pmr::set_default_resource(before);
    EXPECT_EQ(memory.allocations, 1);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

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

TEST(SegmentQueueMemoryTest, LargeMessagesGetASegmentEach) {
    struct Huge {
        char bytes[1 << 20];
    };
    CountingResource memory;
    const SegmentQueue<Huge> queue(4, &memory);
    EXPECT_LT(memory.bytesInUse, 2 * sizeof(Huge));
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

TEST(SegmentQueueMemoryTest, SteadyUseAllocatesNothing) {
    CountingResource memory;
    SegmentQueue<int, TinyTraits> queue(unlimited, &memory);
    int allocations = 0;
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 20; ++i) {
            ASSERT_EQ(queue.tryPush(i), SendResult::ok);
        }
        ASSERT_EQ(queue.consume([](int) {}), 20U);
        allocations = round == 2 ? memory.allocations : allocations;
    }
    EXPECT_EQ(memory.allocations, allocations);
    EXPECT_LE(allocations, 20 / 3 + 2);
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

}  // namespace
}  // namespace sluice
