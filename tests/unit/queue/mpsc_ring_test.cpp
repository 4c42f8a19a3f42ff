#include "support/payloads.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <stdexcept>
#include <type_traits>

namespace sluice {
namespace {

using namespace test;
using Ring = MpscRing<Building, 4>;
using DynamicRing = MpscRing<int, dynamicCapacity>;

static_assert(std::is_same_v<MpscRing<int, 4>::value_type, int>);
static_assert(!std::is_copy_constructible_v<Ring> && !std::is_copy_assignable_v<Ring>);
static_assert(std::is_nothrow_default_constructible_v<Ring>);
static_assert(!std::is_constructible_v<MpscRing<int, 4>, std::size_t>, "it is in the type");
static_assert(!std::is_default_constructible_v<DynamicRing>, "it must be said");
static_assert(!std::is_convertible_v<std::size_t, DynamicRing>);

// Three positions, a flag, and per slot the message with its sequence.
static_assert(sizeof(MpscRing<std::uint32_t, 4, CompactTraits>) <= 3 * 4 + 4 + 4 * 8);
static_assert(alignof(MpscRing<std::uint32_t, 4>) == cacheLineSize);

// ---- reservations and the front

TEST(MpscRingTest, ReservationWithoutCommitIsSkipped) {
    MpscRing<Tracked, 2> ring;
    {
        auto dropped = ring.tryReserve();
        dropped.emplace(1);
        EXPECT_EQ(Tracked::alive, 1);
        const auto empty = ring.tryReserve();
        EXPECT_EQ(empty.number(), 1U);
        EXPECT_EQ(ring.tryReserve().result(), SendResult::full);
    }
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_EQ(ring.front(), nullptr);
    auto last = ring.tryReserve();
    EXPECT_EQ(last.number(), 2U);
    last.emplace(3);
    last.commit();
    EXPECT_EQ(ring.tryPop()->value, 3);
    ring.close();
    EXPECT_EQ(ring.tryReserve().result(), SendResult::closed);
}

TEST(MpscRingTest, FrontTakesNoAddressWithTheOperatorOfAMessage) {
    MpscRing<Disguised, 4> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    EXPECT_EQ(ring.front()->value, 1);
}

TEST(MpscRingTest, FrontIsTheOldestUntilItIsPopped) {
    MpscRing<Tracked, 4> ring;
    EXPECT_EQ(ring.front(), nullptr);
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), SendResult::ok);
    EXPECT_EQ(ring.front()->value, 1);
    EXPECT_EQ(ring.front()->value, 1);
    ring.popFront();
    EXPECT_EQ(ring.front()->value, 2);
    ring.popFront();
    EXPECT_EQ(ring.front(), nullptr);
    EXPECT_EQ(Tracked::alive, 0);
}

// ---- positions

template <class Traits>
class MpscRingWrapTest : public testing::Test {};
using WrapTraits = testing::Types<ByteTraits, NearWrapTraits>;
TYPED_TEST_SUITE(MpscRingWrapTest, WrapTraits);

// Every mix of pushes, failing pushes and pops against a model, for many laps of every small ring.
TYPED_TEST(MpscRingWrapTest, BehavesAsItsModel) {
    for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 64U}) {
        MpscRing<Building, dynamicCapacity, TypeParam> ring(capacity);
        std::deque<int> model;  // a failed push leaves a gap until the consumer passes it
        constexpr int gap = -1;
        const auto dropGaps = [&] {
            while (!model.empty() && model.front() == gap) {
                model.pop_front();
            }
        };
        std::mt19937 random(static_cast<unsigned>(capacity));
        for (int i = 0; i < 5000; ++i) {
            const auto wanted = model.size() < capacity ? SendResult::ok : SendResult::full;
            switch (random() % 5) {
            case 0:
            case 1:
                ASSERT_EQ(ring.tryEmplace(i), wanted);
                if (wanted == SendResult::ok) {
                    model.push_back(i);
                }
                break;
            case 2:
#if defined(__cpp_exceptions)
                try {
                    ASSERT_EQ(ring.tryEmplace(i, [] { throw std::runtime_error("constructor"); }),
                              SendResult::full);
                } catch (const std::runtime_error&) {
                    ASSERT_EQ(wanted, SendResult::ok);
                    model.push_back(gap);
                }
                break;
#endif
            default: {
                dropGaps();
                const auto popped = ring.tryPop();
                ASSERT_EQ(popped.has_value(), !model.empty());
                if (popped) {
                    ASSERT_EQ(popped->value, model.front());
                    model.pop_front();
                }
            }
            }
            ASSERT_EQ(ring.sizeApprox(), model.size());
        }
    }
}

TYPED_TEST(MpscRingWrapTest, ClosedAtTheWrap) {
    for (int before = 0; before < 6; ++before) {
        MpscRing<Building, 3, TypeParam> ring;
        for (int i = 0; i < before; ++i) {
            ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
            ASSERT_EQ(ring.tryPop()->value, i);
        }
        ASSERT_EQ(ring.tryEmplace(7), SendResult::ok);
        ring.close();
        ring.close();
        EXPECT_TRUE(ring.isClosed());
        EXPECT_EQ(ring.sizeApprox(), 1U);
        EXPECT_EQ(ring.tryEmplace(8), SendResult::closed);
        EXPECT_FALSE(ring.isDrained());
        EXPECT_EQ(ring.tryPop()->value, 7);
        EXPECT_TRUE(ring.isDrained());
    }
}

// ---- shutdown

TEST(MpscRingTest, ASecondMessageIsOneBehindTheOldest) {
    MpscRing<int, 2> ring;
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

TEST(MpscRingTest, IsDrainedOnlyWhenClosedAndEmpty) {
    MpscRing<int, 2> ring;
    EXPECT_FALSE(ring.isDrained()) << "empty but open";
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ring.close();
    EXPECT_FALSE(ring.isDrained());
    ring.consume([&](int) { EXPECT_FALSE(ring.isDrained()) << "its handler still runs"; });
    EXPECT_TRUE(ring.isDrained());
}

// ---- exceptions

#if defined(__cpp_exceptions)
TEST(MpscRingTest, SlotOfAThrowingConstructorIsSkipped) {
    Ring ring;
    const auto fail = [] { throw std::runtime_error("constructor"); };
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    EXPECT_THROW((void)ring.tryEmplace(2, fail), std::runtime_error);
    ASSERT_EQ(ring.tryEmplace(3), SendResult::ok);
    EXPECT_THROW((void)ring.tryEmplace(4, fail), std::runtime_error);
    EXPECT_EQ(ring.tryPop()->value, 1);
    EXPECT_EQ(ring.tryPop()->value, 3) << "a skipped slot is no message";
    EXPECT_EQ(ring.consume([](Building&) {}), 0U);
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

TEST(MpscRingTest, ClosedRingWithSkippedSlotsOnlyDrains) {
    Ring ring;
    EXPECT_THROW((void)ring.tryEmplace(1,
                                       [&] {
                                           ring.close();
                                           throw std::runtime_error("constructor");
                                       }),
                 std::runtime_error);
    EXPECT_FALSE(ring.tryPop());
    EXPECT_TRUE(ring.isDrained());
}
#endif

}  // namespace
}  // namespace sluice
