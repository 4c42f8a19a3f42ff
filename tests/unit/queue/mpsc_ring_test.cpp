#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

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

// Three positions, a flag, and per slot the message with its turn.
static_assert(sizeof(MpscRing<std::uint32_t, 4, CompactTraits>) <= 3 * 4 + 4 + 4 * 8);
static_assert(alignof(MpscRing<std::uint32_t, 4>) == cacheLineSize);

template <class AnyRing>
std::vector<int> popAll(AnyRing& ring) {
    std::vector<int> values;
    ring.consume([&](auto& message) { values.push_back(message.value); });
    return values;
}

// ---- order

TEST(MpscRingTest, PushTakesItsPlaceWhenItBegins) {
    Ring ring;
    EXPECT_EQ(ring.tryEmplace(1, [&] { EXPECT_EQ(ring.tryEmplace(2), PushResult::ok); }),
              PushResult::ok);
    EXPECT_EQ(popAll(ring), (std::vector<int>{1, 2}));
}

TEST(MpscRingTest, PushInProgressDelaysLaterMessagesOnly) {
    Ring ring;
    ASSERT_EQ(ring.tryEmplace(1), PushResult::ok);
    EXPECT_EQ(ring.tryEmplace(2,
                              [&] {
                                  EXPECT_EQ(ring.tryEmplace(3), PushResult::ok);
                                  EXPECT_EQ(popAll(ring), (std::vector<int>{1}));
                                  EXPECT_FALSE(ring.tryPop());
                                  EXPECT_EQ(ring.sizeApprox(), 2U);
                              }),
              PushResult::ok);
    EXPECT_EQ(popAll(ring), (std::vector<int>{2, 3}));
}

TEST(MpscRingTest, PushInProgressCountsForFull) {
    MpscRing<Building, 1> ring;
    EXPECT_EQ(ring.tryEmplace(1, [&] { EXPECT_EQ(ring.tryEmplace(2), PushResult::full); }),
              PushResult::ok);
}

TEST(MpscRingTest, ConsumeEndsAlthoughItsHandlerKeepsPushing) {
    Ring ring;
    ASSERT_EQ(ring.tryEmplace(0), PushResult::ok);
    const std::size_t count = ring.consume(
        [&](Building& message) { EXPECT_EQ(ring.tryEmplace(message.value + 1), PushResult::ok); });
    EXPECT_EQ(count, ring.capacity());
    EXPECT_EQ(popAll(ring), (std::vector<int>{4}));
}

TEST(MpscRingTest, SlotComesBackWhenItsHandlerReturns) {
    MpscRing<Tracked, 2> ring;
    ASSERT_EQ(ring.tryEmplace(1), PushResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), PushResult::ok);
    std::vector<int> alive;
    std::vector<PushResult> results;
    ring.consume(
        [&](Tracked&) {
            alive.push_back(Tracked::alive);
            results.push_back(ring.tryEmplace(3));
            results.push_back(ring.tryEmplace(4));
        },
        2);
    EXPECT_EQ(alive, (std::vector<int>{2, 1}));
    EXPECT_EQ(results, (std::vector<PushResult>{PushResult::full, PushResult::full, PushResult::ok,
                                                PushResult::full}));
}

TEST(MpscRingTest, DestructorDestroysWhatIsLeft) {
    {
        MpscRing<Tracked, 4> ring;
        for (int i = 0; i < 4; ++i) {
            ASSERT_EQ(ring.tryEmplace(i), PushResult::ok);
        }
        EXPECT_EQ(ring.tryPop()->value, 0);
        EXPECT_EQ(Tracked::alive, 3);
    }
    EXPECT_EQ(Tracked::alive, 0);
}

// ---- reservations and the front

TEST(MpscRingTest, ReservationIsPublishedByItsCommit) {
    MpscRing<Tracked, 4> ring;
    {
        auto first = ring.tryReserve();
        ASSERT_TRUE(first);
        EXPECT_EQ(first.number(), 0U);
        first.emplace(1);
        EXPECT_EQ(first->value, 1);
        (*first).value = 5;
        ASSERT_EQ(ring.tryEmplace(2), PushResult::ok);
        EXPECT_FALSE(ring.tryPop()) << "later messages wait for it";
        first.commit();
        EXPECT_FALSE(first);
    }
    EXPECT_EQ(ring.tryPop()->value, 5);
    EXPECT_EQ(ring.tryPop()->value, 2);
    EXPECT_EQ(Tracked::alive, 0);
}

TEST(MpscRingTest, ReservationWithoutCommitIsSkipped) {
    MpscRing<Tracked, 2> ring;
    {
        auto dropped = ring.tryReserve();
        dropped.emplace(1);
        EXPECT_EQ(Tracked::alive, 1);
        const auto empty = ring.tryReserve();
        EXPECT_EQ(empty.number(), 1U);
        EXPECT_EQ(ring.tryReserve().result(), PushResult::full);
    }
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_EQ(ring.front(), nullptr);
    auto last = ring.tryReserve();
    EXPECT_EQ(last.number(), 2U);
    last.emplace(3);
    last.commit();
    EXPECT_EQ(ring.tryPop()->value, 3);
    ring.close();
    EXPECT_EQ(ring.tryReserve().result(), PushResult::closed);
}

TEST(MpscRingTest, FrontIsTheOldestUntilItIsPopped) {
    MpscRing<Tracked, 4> ring;
    EXPECT_EQ(ring.front(), nullptr);
    ASSERT_EQ(ring.tryEmplace(1), PushResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), PushResult::ok);
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
            const auto wanted = model.size() < capacity ? PushResult::ok : PushResult::full;
            switch (random() % 5) {
            case 0:
            case 1:
                ASSERT_EQ(ring.tryEmplace(i), wanted);
                if (wanted == PushResult::ok) {
                    model.push_back(i);
                }
                break;
            case 2:
#if defined(__cpp_exceptions)
                try {
                    ASSERT_EQ(ring.tryEmplace(i, [] { throw std::runtime_error("constructor"); }),
                              PushResult::full);
                } catch (const std::runtime_error&) {
                    ASSERT_EQ(wanted, PushResult::ok);
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
            ASSERT_EQ(ring.tryEmplace(i), PushResult::ok);
            ASSERT_EQ(ring.tryPop()->value, i);
        }
        ASSERT_EQ(ring.tryEmplace(7), PushResult::ok);
        ring.close();
        ring.close();
        EXPECT_TRUE(ring.isClosed());
        EXPECT_EQ(ring.sizeApprox(), 1U);
        EXPECT_EQ(ring.tryEmplace(8), PushResult::closed);
        EXPECT_FALSE(ring.isDrained());
        EXPECT_EQ(ring.tryPop()->value, 7);
        EXPECT_TRUE(ring.isDrained());
    }
}

// ---- shutdown

TEST(MpscRingTest, ClosedCountsMoreThanFull) {
    MpscRing<int, 1> ring;
    ASSERT_EQ(ring.tryPush(1), PushResult::ok);
    EXPECT_FALSE(ring.isClosed());
    ring.close();
    EXPECT_EQ(ring.tryPush(2), PushResult::closed);
    EXPECT_EQ(ring.tryPop(), 1);
    EXPECT_EQ(ring.tryPush(2), PushResult::closed);
}

TEST(MpscRingTest, IsDrainedOnlyWhenClosedAndEmpty) {
    MpscRing<int, 2> ring;
    EXPECT_FALSE(ring.isDrained()) << "empty but open";
    ASSERT_EQ(ring.tryPush(1), PushResult::ok);
    ring.close();
    EXPECT_FALSE(ring.isDrained());
    ring.consume([&](int) { EXPECT_FALSE(ring.isDrained()) << "its handler still runs"; });
    EXPECT_TRUE(ring.isDrained());
}

TEST(MpscRingTest, PushUnderWayAtTheCloseIsDelivered) {
    Ring ring;
    EXPECT_EQ(ring.tryEmplace(1,
                              [&] {
                                  ring.close();
                                  EXPECT_FALSE(ring.isDrained());
                                  EXPECT_EQ(ring.tryEmplace(2), PushResult::closed);
                              }),
              PushResult::ok);
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(popAll(ring), (std::vector<int>{1}));
    EXPECT_TRUE(ring.isDrained());
}

// ---- exceptions

#if defined(__cpp_exceptions)
TEST(MpscRingTest, SlotOfAThrowingConstructorIsSkipped) {
    Ring ring;
    const auto fail = [] { throw std::runtime_error("constructor"); };
    ASSERT_EQ(ring.tryEmplace(1), PushResult::ok);
    EXPECT_THROW((void)ring.tryEmplace(2, fail), std::runtime_error);
    ASSERT_EQ(ring.tryEmplace(3), PushResult::ok);
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
