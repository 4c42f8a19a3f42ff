#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_lanes.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

// The handles of MpscLanes' producers, and misuse of both sides.

namespace sluice {
namespace {

using namespace test;
using Lanes = MpscLanes<Tracked>;
using Producer = Lanes::Producer;

static_assert(std::is_same_v<Producer::value_type, Tracked>);
static_assert(std::is_nothrow_default_constructible_v<Producer>);
static_assert(std::is_nothrow_move_constructible_v<Producer>);
static_assert(std::is_nothrow_move_assignable_v<Producer>);
static_assert(!std::is_copy_constructible_v<Producer> && !std::is_copy_assignable_v<Producer>);

std::vector<int> popAll(Lanes& lanes) {
    std::vector<int> values;
    while (auto message = lanes.tryPop()) {
        values.push_back(message->value);
    }
    return values;
}

TEST(MpscLanesProducerTest, HandleMoves) {
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

TEST(MpscLanesProducerTest, AssignmentLetsGoOfTheLaneBefore) {
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

TEST(MpscLanesProducerTest, CloseLetsGoOnce) {
    Lanes lanes(4);
    Producer producer = lanes.producer();
    ASSERT_EQ(producer.tryEmplace(1), SendResult::ok);
    producer.close();
    producer.close();
    EXPECT_FALSE(producer.isOpen());
    EXPECT_EQ(popAll(lanes), (std::vector<int>{1}));
    EXPECT_EQ(lanes.laneCount(), 0U);
}

TEST(MpscLanesProducerTest, HandleReservesInItsLane) {
    Lanes lanes(1);
    Producer producer = lanes.producer();
    {
        auto reservation = producer.tryReserve();
        ASSERT_TRUE(reservation);
        reservation.emplace(1);
        EXPECT_FALSE(lanes.tryPop());
        reservation.commit();
    }
    EXPECT_EQ(producer.tryReserve().result(), SendResult::full);
    EXPECT_EQ(lanes.tryPop()->value, 1);
}

TEST(MpscLanesProducerTest, HandleMayOutliveTheQueue) {
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

TEST(MpscLanesProducerTest, QueueDestroysWhatIsLeft) {
    {
        Lanes lanes(4);
        Producer producer = lanes.producer();
        ASSERT_EQ(producer.tryEmplace(1), SendResult::ok);
        producer.close();
        EXPECT_EQ(Tracked::alive, 1);
    }
    EXPECT_EQ(Tracked::alive, 0);
}

// ---- misuse

#ifndef NDEBUG
TEST(MpscLanesDeathTest, PushThroughAHandleWithoutALane) {
    Lanes lanes(4);
    const char* const advice = "get one from producer\\(\\)";
    Producer none;
    EXPECT_DEATH((void)none.tryEmplace(1), advice);
    EXPECT_DEATH((void)none.tryPush(Tracked(1)), advice);
    EXPECT_DEATH((void)none.tryReserve(), advice);
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
TEST(MpscLanesProducerTest, HandleWithoutALaneIsClosedInReleaseBuilds) {
    Producer none;
    EXPECT_EQ(none.tryEmplace(1), SendResult::closed);
}
#endif

}  // namespace
}  // namespace sluice
