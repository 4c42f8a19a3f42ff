#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_lanes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Registration, handles, memory, shutdown and misuse; the order of delivery is in
// mpsc_lanes_order_test.cpp.

namespace sluice {
namespace {

using namespace test;
using Lanes = MpscLanes<Tracked>;
using Producer = Lanes::Producer;

static_assert(std::is_same_v<Lanes::value_type, Tracked>);
static_assert(!std::is_copy_constructible_v<Lanes> && !std::is_copy_assignable_v<Lanes>);
static_assert(!std::is_convertible_v<std::size_t, Lanes>);
static_assert(std::is_nothrow_default_constructible_v<Producer>);
static_assert(std::is_nothrow_move_constructible_v<Producer>);
static_assert(std::is_nothrow_move_assignable_v<Producer>);
static_assert(!std::is_copy_constructible_v<Producer> && !std::is_copy_assignable_v<Producer>);

template <class AnyLanes>
std::vector<int> popAll(AnyLanes& lanes) {
    std::vector<int> values;
    while (auto message = lanes.tryPop()) {
        values.push_back(message->value);
    }
    return values;
}

// ---- set-up

#if defined(__cpp_exceptions)
template <class AnyLanes>
std::string refusalOf(std::size_t laneCapacity) {
    try {
        AnyLanes lanes(laneCapacity);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(MpscLanesTest, RefusesACapacityOutOfRange) {
    EXPECT_EQ(refusalOf<Lanes>(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_EQ((refusalOf<MpscLanes<int, ByteTraits>>(65)),
              "capacity of a ring is too large: 65, limit 64");
    EXPECT_EQ((refusalOf<MpscLanes<int, ByteTraits>>(64)), "accepted");
}
#else
TEST(MpscLanesDeathTest, RefusesACapacityOutOfRange) {
    EXPECT_DEATH(Lanes(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_DEATH((MpscLanes<int, ByteTraits>(65)), "capacity of a ring is too large: 65, limit 64");
}
#endif

TEST(MpscLanesTest, EachProducerHasItsOwnRoom) {
    Lanes lanes(3);
    EXPECT_EQ(lanes.laneCapacity(), 3U);
    EXPECT_EQ(lanes.laneCount(), 0U);
    EXPECT_EQ(lanes.capacity(), 0U);
    Producer first = lanes.producer();
    Producer second = lanes.producer();
    EXPECT_EQ(lanes.laneCount(), 2U);
    EXPECT_EQ(lanes.capacity(), 6U);
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(first.tryEmplace(i), SendResult::ok);
    }
    EXPECT_EQ(first.tryEmplace(3), SendResult::full);
    EXPECT_EQ(second.tryPush(Tracked(4)), SendResult::ok);
    EXPECT_EQ(first.sizeApprox(), 3U);
    EXPECT_EQ(second.sizeApprox(), 1U);
    EXPECT_EQ(lanes.sizeApprox(), 4U);
}

// ---- memory

TEST(MpscLanesTest, OnlyRegistrationAllocates) {
    CountingResource memory;
    {
        Lanes lanes(4, &memory);
        EXPECT_EQ(memory.allocations, 0);
        Producer producer = lanes.producer();
        const int allocations = memory.allocations;
        EXPECT_GT(allocations, 0);
        for (int i = 0; i < 20; ++i) {
            ASSERT_EQ(producer.tryEmplace(i), SendResult::ok);
            ASSERT_TRUE(lanes.tryPop());
        }
        lanes.close();
        EXPECT_EQ(memory.allocations, allocations);
        EXPECT_EQ(memory.deallocations, 0);
    }
    EXPECT_EQ(memory.deallocations, memory.allocations);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(MpscLanesTest, LaneGoesBackWhenItsProducerHasGoneAndItIsDrained) {
    CountingResource memory;
    Lanes lanes(4, &memory);
    {
        Producer producer = lanes.producer();
        ASSERT_EQ(producer.tryEmplace(1), SendResult::ok);
        ASSERT_EQ(producer.tryEmplace(2), SendResult::ok);
    }
    EXPECT_EQ(lanes.laneCount(), 1U);
    EXPECT_EQ(lanes.tryPop()->value, 1);
    EXPECT_EQ(lanes.laneCount(), 1U);
    EXPECT_EQ(popAll(lanes), (std::vector<int>{2}));
    EXPECT_EQ(lanes.laneCount(), 0U);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(MpscLanesTest, EmptyLaneOfAGoneProducerGoesBackWithTheNextPoll) {
    CountingResource memory;
    Lanes lanes(4, &memory);
    { const Producer producer = lanes.producer(); }
    EXPECT_FALSE(lanes.tryPop());
    EXPECT_EQ(memory.bytesInUse, 0U);
    { const Producer producer = lanes.producer(); }
    EXPECT_EQ(lanes.consumeOrdered([](const Tracked& m) { return m.value; }, [](Tracked&) {}), 0U);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

// First, middle and last lanes are taken out of the list and new ones hung on, in every order.
TEST(MpscLanesTest, LanesComeAndGoInAnyOrder) {
    constexpr int lanesAtOnce = 3;
    CountingResource memory;
    Lanes lanes(4, &memory);
    std::vector<int> order{0, 1, 2};
    do {
        std::vector<Producer> producers;
        for (int i = 0; i < lanesAtOnce; ++i) {
            producers.push_back(lanes.producer());
        }
        std::size_t left = lanesAtOnce;
        for (const int leaving : order) {
            producers[static_cast<std::size_t>(leaving)].close();
            EXPECT_FALSE(lanes.tryPop());
            EXPECT_EQ(lanes.laneCount(), --left);
            Producer latecomer = lanes.producer();
            ASSERT_EQ(latecomer.tryEmplace(leaving), SendResult::ok);
            for (Producer& producer : producers) {
                EXPECT_TRUE(!producer.isOpen() || producer.tryEmplace(9) == SendResult::ok);
            }
            EXPECT_EQ(popAll(lanes).size(), left + 1);
            latecomer.close();
            EXPECT_FALSE(lanes.tryPop());
        }
        EXPECT_EQ(memory.bytesInUse, 0U);
    } while (std::next_permutation(order.begin(), order.end()));
}

#if defined(__cpp_exceptions)
TEST(MpscLanesTest, RegistrationWithoutMemoryChangesNothing) {
    CountingResource memory;
    Lanes lanes(4, &memory);
    for (int granted = 0; granted < 2; ++granted) {
        memory.allocationsLeft = granted;
        EXPECT_THROW((void)lanes.producer(), std::bad_alloc);
        EXPECT_EQ(lanes.laneCount(), 0U);
        EXPECT_EQ(memory.bytesInUse, 0U);
    }
    memory.allocationsLeft = CountingResource::endless;
    Producer producer = lanes.producer();
    EXPECT_EQ(producer.tryEmplace(1), SendResult::ok);
}
#endif

// ---- shutdown

TEST(MpscLanesTest, CloseRefusesPushesInAllLanes) {
    Lanes lanes(4);
    Producer first = lanes.producer();
    Producer second = lanes.producer();
    ASSERT_EQ(first.tryEmplace(1), SendResult::ok);
    EXPECT_FALSE(lanes.isClosed());
    lanes.close();
    lanes.close();
    EXPECT_TRUE(lanes.isClosed());
    EXPECT_EQ(first.tryEmplace(2), SendResult::closed);
    EXPECT_EQ(second.tryEmplace(2), SendResult::closed);
    EXPECT_TRUE(first.isOpen()) << "the handle keeps its lane";
    Producer latecomer = lanes.producer();
    EXPECT_EQ(latecomer.tryEmplace(2), SendResult::closed);
    EXPECT_FALSE(lanes.isDrained());
    EXPECT_EQ(lanes.tryPop()->value, 1);
    EXPECT_TRUE(lanes.isDrained());
}

#if defined(__cpp_exceptions)
TEST(MpscLanesTest, HandlerThatThrowsDoesNotKeepTheOtherLanesWaiting) {
    Lanes lanes(4);
    Producer first = lanes.producer();
    Producer second = lanes.producer();
    ASSERT_EQ(first.tryEmplace(1), SendResult::ok);
    ASSERT_EQ(first.tryEmplace(2), SendResult::ok);
    ASSERT_EQ(second.tryEmplace(10), SendResult::ok);
    std::vector<int> seen;
    const auto throwing = [&seen](Tracked& message) {
        seen.push_back(message.value);
        throw std::runtime_error("handler");
    };
    EXPECT_THROW(lanes.consume(throwing), std::runtime_error);
    EXPECT_THROW(lanes.consume(throwing), std::runtime_error);
    EXPECT_EQ(seen, (std::vector<int>{1, 10}));
}
#endif

// ---- handles

TEST(MpscLanesTest, HandleMoves) {
    Lanes lanes(4);
    Producer first = lanes.producer();
    Producer second = std::move(first);
    EXPECT_FALSE(first.isOpen());
    EXPECT_EQ(first.sizeApprox(), 0U);
    EXPECT_TRUE(second.isOpen());
    ASSERT_EQ(second.tryEmplace(1), SendResult::ok);
    Producer third;
    EXPECT_FALSE(third.isOpen());
    third.swap(second);
    EXPECT_FALSE(second.isOpen());
    ASSERT_EQ(third.tryEmplace(2), SendResult::ok);
    EXPECT_EQ(popAll(lanes), (std::vector<int>{1, 2}));
    EXPECT_EQ(lanes.laneCount(), 1U);
}

TEST(MpscLanesTest, AssignmentLetsGoOfTheLaneBefore) {
    Lanes lanes(4);
    Producer handle = lanes.producer();
    ASSERT_EQ(handle.tryEmplace(1), SendResult::ok);
    handle = lanes.producer();
    EXPECT_EQ(handle.sizeApprox(), 0U);
    EXPECT_EQ(lanes.laneCount(), 2U);
    EXPECT_EQ(popAll(lanes), (std::vector<int>{1}));
    EXPECT_EQ(lanes.laneCount(), 1U);
    Producer& same = handle;
    handle = std::move(same);
    EXPECT_TRUE(handle.isOpen());
}

TEST(MpscLanesTest, HandleMayOutliveTheQueue) {
    CountingResource memory;
    {
        Producer producer;
        {
            Lanes lanes(4, &memory);
            producer = lanes.producer();
            ASSERT_EQ(producer.tryEmplace(1), SendResult::ok);
        }
        EXPECT_TRUE(producer.isOpen());
        EXPECT_EQ(producer.tryEmplace(2), SendResult::closed);
    }
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

// ---- misuse

#ifndef NDEBUG
TEST(MpscLanesDeathTest, PushThroughAHandleWithoutALane) {
    Lanes lanes(4);
    const char* const advice = "get one from producer\\(\\)";
    Producer none;
    EXPECT_DEATH((void)none.tryEmplace(1), advice);
    EXPECT_DEATH((void)none.tryPush(Tracked(1)), advice);
    Producer closed = lanes.producer();
    closed.close();
    EXPECT_DEATH((void)closed.tryEmplace(1), advice);
    Producer moved = lanes.producer();
    const Producer target = std::move(moved);
    EXPECT_DEATH((void)moved.tryEmplace(1), advice);
}

TEST(MpscLanesDeathTest, SecondThreadInOneHandle) {
    MpscLanes<Building> lanes(4);
    auto producer = lanes.producer();
    EXPECT_DEATH((void)producer.tryEmplace(1, [&] { (void)producer.tryEmplace(2); }),
                 "a second producer on a single-producer queue");
}

TEST(MpscLanesDeathTest, HandlerThatConsumesFromItsOwnQueue) {
    Lanes lanes(4);
    Producer producer = lanes.producer();
    ASSERT_EQ(producer.tryEmplace(1), SendResult::ok);
    const char* const advice = "let one thread at a time consume";
    const auto key = [](const Tracked& message) { return message.value; };
    EXPECT_DEATH(lanes.consume([&](Tracked&) { (void)lanes.tryPop(); }), advice);
    EXPECT_DEATH(lanes.consume([&](Tracked&) { lanes.consumeOrdered(key, [](Tracked&) {}); }),
                 advice);
    EXPECT_DEATH(lanes.consumeOrdered(key, [&](Tracked&) { lanes.consume([](Tracked&) {}); }),
                 advice);
}
#else
TEST(MpscLanesTest, HandleWithoutALaneIsClosedInReleaseBuilds) {
    Producer none;
    EXPECT_EQ(none.tryEmplace(1), SendResult::closed);
}
#endif

}  // namespace
}  // namespace sluice
