#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_ring.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

// Set-up, memory, layout and misuse of an MpscRing.

namespace sluice {
namespace {

using namespace test;
using DynamicRing = MpscRing<int, dynamicCapacity>;
using ByteRing = MpscRing<int, dynamicCapacity, ByteTraits>;

TEST(MpscRingSetupTest, AllocatesOnceAndGivesBack) {
    CountingResource memory;
    {
        DynamicRing ring(5, &memory);
        EXPECT_EQ(ring.capacity(), 5U);
        EXPECT_EQ(memory.allocations, 1);
        EXPECT_EQ(memory.bytesInUse, 16 * sizeof(std::uint64_t)) << "8 slots: message and sequence";
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(ring.tryPush(i), SendResult::ok);
            ASSERT_EQ(ring.tryPop(), i);
        }
        ring.close();
        EXPECT_EQ(memory.allocations, 1);
    }
    EXPECT_EQ(memory.deallocations, 1);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(MpscRingSetupTest, AsksForTheAlignmentOfItsMessages) {
    struct alignas(256) Wide {
        int value;
    };
    CountingResource memory;
    MpscRing<Wide, dynamicCapacity> ring(1, &memory);
    EXPECT_GE(memory.largestAlignment, alignof(Wide));
    ASSERT_EQ(ring.tryEmplace(7), SendResult::ok);
    ring.consume([](Wide& message) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&message) % alignof(Wide), 0U);
    });
}

TEST(MpscRingSetupTest, UsesTheDefaultResource) {
    CountingResource memory;
    std::pmr::memory_resource* const before = std::pmr::set_default_resource(&memory);
    { DynamicRing ring(4); }
    std::pmr::set_default_resource(before);
    EXPECT_EQ(memory.allocations, 1);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(MpscRingSetupTest, CapacityIsExactUpToAQuarterOfTheIndexRange) {
    for (std::size_t capacity = 1; capacity <= 64; ++capacity) {
        ByteRing ring(capacity);
        EXPECT_EQ(ring.capacity(), capacity);
        for (int lap = 0; lap < 3; ++lap) {
            for (std::size_t i = 0; i < capacity; ++i) {
                ASSERT_EQ(ring.tryPush(1), SendResult::ok);
            }
            ASSERT_EQ(ring.tryPush(1), SendResult::full) << capacity;
            ASSERT_EQ(ring.sizeApprox(), capacity);
            ASSERT_EQ(ring.consume([](int) {}), capacity);
        }
    }
}

#if defined(__cpp_exceptions)
template <class Ring>
std::string refusalOf(std::size_t capacity) {
    CountingResource memory;
    try {
        Ring ring(capacity, &memory);
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(memory.allocations, 0);
        return error.what();
    }
    return "accepted";
}

TEST(MpscRingSetupTest, RefusesACapacityOutOfRange) {
    EXPECT_EQ(refusalOf<DynamicRing>(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_EQ(refusalOf<ByteRing>(65), "capacity of a ring is too large: 65, limit 64");
    EXPECT_EQ(refusalOf<ByteRing>(64), "accepted");
    const std::size_t largest = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(refusalOf<DynamicRing>(largest),
              "capacity of a ring is too large: " + std::to_string(largest) + ", limit " +
                  std::to_string(largest / 4 / (2 * sizeof(std::uint64_t))));
}
#else
TEST(MpscRingDeathTest, RefusesACapacityOutOfRange) {
    EXPECT_DEATH(DynamicRing(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_DEATH(ByteRing(65), "capacity of a ring is too large: 65, limit 64");
}
#endif

TEST(MpscRingSetupTest, ConsumerWritesOneLineAndNoSlot) {
    MpscRing<int, 16, TracingTraits> ring;
    WriteTrace::take();
    for (int i = 0; i < 17; ++i) {
        (void)ring.tryPush(i);
    }
    const WriteTrace::Lines producers = WriteTrace::take();
    EXPECT_EQ(ring.consume([](int) {}, 15), 15U);
    EXPECT_EQ(ring.tryPop(), 15);
    EXPECT_EQ(ring.tryPop(), std::nullopt);
    const WriteTrace::Lines consumers = WriteTrace::take();
    EXPECT_EQ(consumers.size(), 1U);
    EXPECT_TRUE(areDisjoint(producers, consumers));
}

TEST(MpscRingSetupTest, PushWithoutInterferenceIsOneCompareExchange) {
    MpscRing<int, 4, TracingTraits> ring;
    for (int i = 0; i < 20; ++i) {
        WriteTrace::readModifyWrites = 0;
        ASSERT_EQ(ring.tryPush(i), SendResult::ok);
        EXPECT_EQ(WriteTrace::readModifyWrites, 1);
        ASSERT_EQ(ring.tryPop(), i);
        EXPECT_EQ(WriteTrace::readModifyWrites, 1) << "and a pop is none";
    }
}

#ifndef NDEBUG
TEST(MpscRingDeathTest, HandlerThatConsumesFromItsOwnQueue) {
    MpscRing<int, 4> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    const char* const advice = "let one thread at a time consume";
    EXPECT_DEATH(ring.consume([&](int) { ring.consume([](int) {}); }), advice);
    EXPECT_DEATH(ring.consume([&](int) { (void)ring.tryPop(); }), advice);
}
#endif

}  // namespace
}  // namespace sluice
