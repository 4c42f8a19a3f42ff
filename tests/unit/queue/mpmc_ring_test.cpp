#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpmc_ring.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

using namespace test;
using Ring = MpmcRing<Building, 4>;
using DynamicRing = MpmcRing<int, dynamicCapacity>;

static_assert(std::is_same_v<MpmcRing<int, 4>::value_type, int>);
static_assert(!std::is_copy_constructible_v<Ring> && !std::is_copy_assignable_v<Ring>);
static_assert(std::is_nothrow_default_constructible_v<Ring>);
static_assert(!std::is_default_constructible_v<DynamicRing>, "it must be said");
static_assert(!std::is_convertible_v<std::size_t, DynamicRing>);

// Three positions, and per slot the message with its sequence.
static_assert(sizeof(MpmcRing<std::uint32_t, 4, CompactTraits>) <= 3 * 4 + 4 * 8);
static_assert(alignof(MpmcRing<std::uint32_t, 4>) == cacheLineSize);

template <class AnyRing>
std::vector<int> popAll(AnyRing& ring) {
    std::vector<int> values;
    ring.consume([&](auto& message) { values.push_back(message.value); });
    return values;
}

// ---- consumers

TEST(MpmcRingTest, HandlerThatConsumesGetsTheNextMessage) {
    Ring ring;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
    }
    std::vector<int> seen;
    const std::size_t count = ring.consume([&](Building& message) {
        EXPECT_EQ(ring.tryPop()->value, message.value + 1);
        seen.push_back(message.value);
    });
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(seen, (std::vector<int>{0, 2}));
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

// The first message is handled while all others come and go: its slot is in use until then.
TEST(MpmcRingTest, SlowHandlerHoldsUpItsOwnSlotOnly) {
    for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 64U}) {
        MpmcRing<int, dynamicCapacity, ByteTraits> ring(capacity);
        ASSERT_EQ(ring.tryPush(0), SendResult::ok);
        ring.consume(
            [&](int) {
                for (std::size_t i = 1; i < capacity; ++i) {
                    ASSERT_EQ(ring.tryPush(static_cast<int>(i)), SendResult::ok);
                    ASSERT_EQ(ring.tryPop(), static_cast<int>(i));
                    ASSERT_EQ(ring.sizeApprox(), 1U) << "the message that is being handled";
                }
                EXPECT_EQ(ring.tryPush(9), SendResult::full) << "here the ring comes to its slot";
                EXPECT_EQ(ring.tryPop(), std::nullopt);
            },
            1);
        EXPECT_EQ(ring.sizeApprox(), 0U);
        for (std::size_t i = 0; i < capacity; ++i) {
            ASSERT_EQ(ring.tryPush(1), SendResult::ok) << "slot " << i << " of " << capacity;
        }
        EXPECT_EQ(ring.tryPush(1), SendResult::full);
    }
}

TEST(MpmcRingTest, ArrivalIsAMessageThatIsComplete) {
    Ring ring;
    EXPECT_FALSE(ring.hasArrival());
    EXPECT_EQ(ring.tryEmplace(1, [&] { EXPECT_FALSE(ring.hasArrival()); }), SendResult::ok);
    EXPECT_TRUE(ring.hasArrival());
    ring.consume([&](Building&) { EXPECT_FALSE(ring.hasArrival()) << "it is taken"; });
}

// ---- set-up and cost

TEST(MpmcRingTest, AllocatesOnceAndGivesBack) {
    CountingResource memory;
    {
        DynamicRing ring(5, &memory);
        EXPECT_EQ(ring.capacity(), 5U);
        EXPECT_EQ(memory.bytesInUse, 16 * sizeof(std::uint64_t)) << "8 slots: message and sequence";
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(ring.tryPush(i), SendResult::ok);
            ASSERT_EQ(ring.tryPop(), i);
        }
        EXPECT_EQ(memory.allocations, 1);
    }
    EXPECT_EQ(memory.deallocations, 1);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(MpmcRingTest, PushIsOneReadModifyWriteAndAPopTwo) {
    MpmcRing<int, 4, TracingTraits> ring;
    WriteTrace::readModifyWrites = 0;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    EXPECT_EQ(WriteTrace::readModifyWrites, 1);
    EXPECT_EQ(ring.tryPop(), 1);
    EXPECT_EQ(WriteTrace::readModifyWrites, 3);
    EXPECT_EQ(ring.tryPop(), std::nullopt);
    EXPECT_EQ(WriteTrace::readModifyWrites, 3) << "an empty look takes none";
}

// ---- positions

template <class Traits>
class MpmcRingWrapTest : public testing::Test {};
using WrapTraits = testing::Types<ByteTraits, NearWrapTraits>;
TYPED_TEST_SUITE(MpmcRingWrapTest, WrapTraits);

// Every mix of pushes, failing pushes and pops against a model, for many laps of every small ring.
TYPED_TEST(MpmcRingWrapTest, BehavesAsItsModel) {
    for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 33U, 64U}) {
        MpmcRing<Building, dynamicCapacity, TypeParam> ring(capacity);
        std::deque<int> model;  // a failed push leaves a gap until a consumer passes it
        constexpr int gap = -1;
        std::mt19937 random(static_cast<unsigned>(capacity));
        for (int i = 0; i < 5000; ++i) {
            const auto wanted = model.size() < capacity ? SendResult::ok : SendResult::full;
            const auto step = random() % 5;
            if (step < 2) {
                ASSERT_EQ(ring.tryEmplace(i), wanted);
                if (wanted == SendResult::ok) {
                    model.push_back(i);
                }
            } else if (step == 2) {
                auto dropped = ring.tryReserve();
                ASSERT_EQ(dropped.result(), wanted);
                if (wanted == SendResult::ok) {
                    model.push_back(gap);
                }
            } else {
                while (!model.empty() && model.front() == gap) {
                    model.pop_front();
                }
                const auto popped = ring.tryPop();
                ASSERT_EQ(popped.has_value(), !model.empty());
                if (popped) {
                    ASSERT_EQ(popped->value, model.front());
                    model.pop_front();
                }
            }
            ASSERT_EQ(ring.sizeApprox(), model.size());
            ASSERT_EQ(ring.sizeExact(), model.size());
        }
    }
}

// ---- shutdown

TEST(MpmcRingTest, IsDrainedWhenTheLastHandlerHasReturned) {
    MpmcRing<int, 2> ring;
    EXPECT_FALSE(ring.isDrained()) << "empty but open";
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ASSERT_EQ(ring.tryPush(2), SendResult::ok);
    ring.close();
    ring.consume(
        [&](int) {
            EXPECT_EQ(ring.tryPop(), 2);
            EXPECT_FALSE(ring.isDrained()) << "the first handler still runs";
        },
        1);
    EXPECT_TRUE(ring.isDrained());
}

// ---- exceptions

#if defined(__cpp_exceptions)
TEST(MpmcRingTest, SlotOfAThrowingConstructorIsSkipped) {
    MpmcRing<Building, 1> ring;
    const auto fail = [] { throw std::runtime_error("constructor"); };
    for (int lap = 0; lap < 5; ++lap) {
        EXPECT_THROW((void)ring.tryEmplace(1, fail), std::runtime_error);
        EXPECT_EQ(ring.tryEmplace(2), SendResult::full) << "until a consumer comes by";
        EXPECT_FALSE(ring.tryPop()) << "a skipped slot is no message";
        EXPECT_EQ(ring.sizeApprox(), 0U);
        ASSERT_EQ(ring.tryEmplace(3), SendResult::ok);
        EXPECT_EQ(ring.tryPop()->value, 3);
    }
}

TEST(MpmcRingTest, ThrowingHandlerHasConsumedItsMessage) {
    Ring ring;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
    }
    EXPECT_THROW(ring.consume([](Building& message) {
        if (message.value == 1) {
            throw std::runtime_error("handler");
        }
    }),
                 std::runtime_error);
    EXPECT_EQ(ring.sizeApprox(), 2U);
    EXPECT_EQ(popAll(ring), (std::vector<int>{2, 3}));
}
#endif

}  // namespace
}  // namespace sluice
