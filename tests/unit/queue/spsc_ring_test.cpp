#include "support/payloads.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

using namespace test;
using DynamicRing = SpscRing<int, dynamicCapacity>;

static_assert(std::is_same_v<SpscRing<int, 4>::value_type, int>);
static_assert(!std::is_copy_constructible_v<SpscRing<int, 4>>);
static_assert(!std::is_copy_assignable_v<SpscRing<int, 4>>);
static_assert(std::is_default_constructible_v<SpscRing<int, 4>>);
static_assert(!std::is_constructible_v<SpscRing<int, 4>, std::size_t>, "it is in the type");
static_assert(!std::is_default_constructible_v<DynamicRing>, "it must be said");
static_assert(!std::is_convertible_v<std::size_t, DynamicRing>);

// Five words of positions, three flags and the slots.
static_assert(sizeof(SpscRing<std::uint32_t, 4, CompactTraits>) <= 5 * 4 + 3 * 4 + 4 * 4);
static_assert(alignof(SpscRing<std::uint32_t, 4>) == cacheLineSize);

template <class Ring>
std::vector<int> popAll(Ring& ring) {
    std::vector<int> values;
    ring.consume([&](auto& message) { values.push_back(message); });
    return values;
}

// ---- consumer's side

TEST(SpscRingTest, FrontShowsTheOldestMessageUntilItIsPopped) {
    SpscRing<int, 4> ring;
    EXPECT_EQ(ring.front(), nullptr);
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ASSERT_EQ(ring.tryPush(2), SendResult::ok);
    ASSERT_NE(ring.front(), nullptr);
    EXPECT_EQ(*ring.front(), 1);
    EXPECT_EQ(ring.front(), ring.front());
    EXPECT_EQ(ring.sizeApprox(), 2U);
    ring.popFront();
    EXPECT_EQ(*ring.front(), 2);
    ring.popFront();
    EXPECT_EQ(ring.front(), nullptr);
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

TEST(SpscRingTest, TakesNoAddressWithTheOperatorOfAMessage) {
    SpscRing<Disguised, 4> ring;
    auto reservation = ring.tryReserve();
    reservation.emplace(1);
    EXPECT_EQ(reservation->value, 1);
    reservation.commit();
    EXPECT_EQ(ring.front()->value, 1);
}

TEST(SpscRingTest, ASecondMessageIsOneBehindTheOldest) {
    SpscRing<int, 2> ring;
    EXPECT_FALSE(ring.hasSecond()) << "empty";
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(ring.tryPush(1), SendResult::ok);
        EXPECT_FALSE(ring.hasSecond());
        ASSERT_EQ(ring.tryPush(2), SendResult::ok);
        EXPECT_TRUE(ring.hasSecond());
        ring.consume([&](int) { EXPECT_TRUE(ring.hasSecond()) << "its slot is still in use"; }, 1);
        EXPECT_FALSE(ring.hasSecond());
        ring.popFront();
    }
}

TEST(SpscRingTest, FrontMayBeMovedFrom) {
    SpscRing<std::unique_ptr<int>, 2> ring;
    ASSERT_EQ(ring.tryPush(std::make_unique<int>(7)), SendResult::ok);
    const std::unique_ptr<int> taken = std::move(*ring.front());
    ring.popFront();
    EXPECT_EQ(*taken, 7);
}

TEST(SpscRingTest, PopFrontDestroysAndMakesRoom) {
    SpscRing<Tracked, 1> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    ASSERT_NE(ring.front(), nullptr);
    EXPECT_EQ(ring.tryEmplace(2), SendResult::full);
    ring.popFront();
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_EQ(ring.tryEmplace(2), SendResult::ok);
}

TEST(SpscRingTest, PopFrontTakesAMessageThatConsumeLeft) {
    SpscRing<int, 4> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ASSERT_EQ(ring.tryPush(2), SendResult::ok);
    EXPECT_EQ(ring.consume([](int) {}, 1), 1U);
    ring.popFront();
    EXPECT_EQ(ring.front(), nullptr);
}

TEST(SpscRingTest, ConsumeHandsOutWhatWasThereWhenItBegan) {
    SpscRing<int, 4> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ASSERT_EQ(ring.tryPush(2), SendResult::ok);
    const std::size_t count =
        ring.consume([&](int value) { EXPECT_EQ(ring.tryPush(value + 10), SendResult::ok); });
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(popAll(ring), (std::vector<int>{11, 12}));
}

TEST(SpscRingTest, SlotComesBackWhenItsHandlerReturns) {
    SpscRing<Tracked, 2> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), SendResult::ok);
    std::vector<int> alive;
    std::vector<SendResult> results;
    ring.consume([&](Tracked& message) {
        alive.push_back(Tracked::alive);
        results.push_back(ring.tryEmplace(message.value + 10));
        results.push_back(ring.tryEmplace(0));
    });
    EXPECT_EQ(alive, (std::vector<int>{2, 1}));
    EXPECT_EQ(results, (std::vector<SendResult>{SendResult::full, SendResult::full, SendResult::ok,
                                                SendResult::full}));
}

TEST(SpscRingTest, HandlerMayChangeAndKeepTheMessage) {
    SpscRing<std::string, 2> ring;
    ASSERT_EQ(ring.tryEmplace(std::size_t{100}, 'x'), SendResult::ok);
    std::string kept;
    EXPECT_EQ(ring.consume([&](std::string& message) { kept = std::move(message += 'y'); }), 1U);
    EXPECT_EQ(kept, std::string(100, 'x') + 'y');
}

TEST(SpscRingTest, DestructorDestroysWhatIsLeft) {
    {
        SpscRing<Tracked, 4> ring;
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
        }
        EXPECT_EQ(ring.tryPop()->value, 0);
        EXPECT_EQ(Tracked::alive, 2);
    }
    EXPECT_EQ(Tracked::alive, 0);
}

// ---- positions

template <class Traits>
class SpscRingWrapTest : public testing::Test {};
using WrapTraits = testing::Types<ByteTraits, NearWrapTraits>;
TYPED_TEST_SUITE(SpscRingWrapTest, WrapTraits);

TYPED_TEST(SpscRingWrapTest, NothingChangesAtTheWrap) {
    SpscRing<int, 3, TypeParam> ring;
    for (int i = 0; i < 1000; i += 3) {
        for (int j = 0; j < 3; ++j) {
            EXPECT_EQ(ring.sizeApprox(), static_cast<std::size_t>(j));
            ASSERT_EQ(ring.tryPush(i + j), SendResult::ok);
        }
        ASSERT_EQ(ring.tryPush(-1), SendResult::full);
        EXPECT_EQ(ring.sizeApprox(), 3U);
        EXPECT_EQ(ring.tryPop(), i);
        EXPECT_EQ(*ring.front(), i + 1);
        EXPECT_EQ(popAll(ring), (std::vector<int>{i + 1, i + 2}));
        EXPECT_EQ(ring.front(), nullptr);
        ASSERT_FALSE(ring.isDrained());
    }
}

TYPED_TEST(SpscRingWrapTest, ClosedAtTheWrap) {
    for (int before = 0; before < 6; ++before) {
        SpscRing<int, 3, TypeParam> ring;
        for (int i = 0; i < before; ++i) {
            ASSERT_EQ(ring.tryPush(i), SendResult::ok);
            ASSERT_EQ(ring.tryPop(), i);
        }
        ASSERT_EQ(ring.tryPush(7), SendResult::ok);
        ring.close();
        EXPECT_EQ(ring.tryPush(8), SendResult::closed);
        EXPECT_FALSE(ring.isDrained());
        EXPECT_EQ(ring.tryPop(), 7);
        EXPECT_TRUE(ring.isDrained());
    }
}

// ---- set-up and memory

TEST(SpscRingTest, DynamicRingAllocatesOnceAndGivesBack) {
    CountingResource memory;
    {
        SpscRing<int, dynamicCapacity> ring(5, &memory);
        EXPECT_EQ(ring.capacity(), 5U);
        EXPECT_EQ(memory.allocations, 1);
        EXPECT_EQ(memory.bytesInUse, 8 * sizeof(int)) << "a power of two of slots, nothing else";
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

TEST(SpscRingTest, DynamicRingAsksForTheAlignmentOfItsMessages) {
    struct alignas(256) Wide {
        int value;
    };
    CountingResource memory;
    SpscRing<Wide, dynamicCapacity> ring(1, &memory);
    EXPECT_GE(memory.largestAlignment, alignof(Wide));
    ASSERT_EQ(ring.tryEmplace(7), SendResult::ok);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ring.front()) % alignof(Wide), 0U);
}

TEST(SpscRingTest, DynamicRingUsesTheDefaultResource) {
    CountingResource memory;
    std::pmr::memory_resource* const before = std::pmr::set_default_resource(&memory);
    { DynamicRing ring(4); }
    std::pmr::set_default_resource(before);
    EXPECT_EQ(memory.allocations, 1);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(SpscRingTest, LargestCapacityIsAQuarterOfTheIndexRange) {
    SpscRing<int, 64, ByteTraits> fixed;
    SpscRing<int, dynamicCapacity, ByteTraits> dynamic(64);
    for (int i = 0; i < 64; ++i) {
        ASSERT_EQ(fixed.tryPush(i), SendResult::ok);
        ASSERT_EQ(dynamic.tryPush(i), SendResult::ok);
    }
    EXPECT_EQ(fixed.tryPush(64), SendResult::full);
    EXPECT_EQ(dynamic.tryPush(64), SendResult::full);
    EXPECT_EQ(popAll(fixed), popAll(dynamic));
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

TEST(SpscRingTest, RefusesACapacityOutOfRange) {
    EXPECT_EQ(refusalOf<DynamicRing>(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_EQ((refusalOf<SpscRing<int, dynamicCapacity, ByteTraits>>(65)),
              "capacity of a ring is too large: 65, limit 64");
    EXPECT_EQ((refusalOf<SpscRing<int, dynamicCapacity, ByteTraits>>(64)), "accepted");
    const std::size_t largest = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(refusalOf<DynamicRing>(largest),
              "capacity of a ring is too large: " + std::to_string(largest) + ", limit " +
                  std::to_string(largest / 4 / sizeof(int)));
}

TEST(SpscRingTest, ThrowingConstructorLeavesTheRingAsItWas) {
    SpscRing<Building, 2> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    for (int i = 0; i < 5; ++i) {
        EXPECT_THROW((void)ring.tryEmplace(2, [] { throw std::runtime_error("constructor"); }),
                     std::runtime_error);
        EXPECT_EQ(ring.sizeApprox(), 1U);
    }
    ASSERT_EQ(ring.tryEmplace(3), SendResult::ok);
    EXPECT_EQ(ring.tryPop()->value, 1);
    EXPECT_EQ(ring.tryPop()->value, 3);
}
#else
TEST(SpscRingDeathTest, RefusesACapacityOutOfRange) {
    EXPECT_DEATH(DynamicRing(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_DEATH((SpscRing<int, dynamicCapacity, ByteTraits>(65)),
                 "capacity of a ring is too large: 65, limit 64");
}
#endif

// ---- which side writes which words

TEST(SpscRingTest, TheSidesWriteDifferentLines) {
    SpscRing<int, 4, TracingTraits> ring;
    WriteTrace::take();
    WriteTrace::readModifyWrites = 0;
    for (int i = 0; i < 6; ++i) {
        (void)ring.tryPush(i);
    }
    const WriteTrace::Lines producers = WriteTrace::take();
    popAll(ring);
    EXPECT_EQ(ring.tryPop(), std::nullopt);
    EXPECT_EQ(ring.front(), nullptr);
    const WriteTrace::Lines consumers = WriteTrace::take();
    EXPECT_FALSE(producers.empty());
    EXPECT_FALSE(consumers.empty());
    EXPECT_TRUE(areDisjoint(producers, consumers));
    EXPECT_EQ(WriteTrace::readModifyWrites, 0);
}

}  // namespace
}  // namespace sluice
