#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpsc_lanes.hpp>

#include "support/testing.hpp"

// MpscLanes and MpmcLanes: registration, handles, memory, shutdown, misuse and the order of
// delivery.

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

/// What both kinds of lanes promise.
template <class AnyLanes>
class LanesTest : public testing::Test {};
using Kinds = testing::Types<MpscLanes<Tracked>, MpmcLanes<Tracked>>;
TYPED_TEST_SUITE(LanesTest, Kinds);
using SharedLanes = MpmcLanes<Tracked>;

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

TYPED_TEST(LanesTest, RefusesACapacityOutOfRange) {
    EXPECT_EQ(refusalOf<TypeParam>(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_EQ((refusalOf<MpscLanes<int, ByteTraits>>(65)),
              "capacity of a ring is too large: 65, limit 64");
    EXPECT_EQ((refusalOf<MpscLanes<int, ByteTraits>>(64)), "accepted");
}
#else
TYPED_TEST(LanesTest, RefusesACapacityOutOfRange) {
    EXPECT_DEATH(TypeParam(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_DEATH((MpscLanes<int, ByteTraits>(65)), "capacity of a ring is too large: 65, limit 64");
}
#endif

// ---- memory

TYPED_TEST(LanesTest, LaneGoesBackWhenItsProducerHasGoneAndItIsDrained) {
    CountingResource memory;
    TypeParam lanes(4, &memory);
    {
        auto producer = lanes.producer();
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

#if defined(__cpp_exceptions)
TYPED_TEST(LanesTest, RegistrationWithoutMemoryChangesNothing) {
    CountingResource memory;
    TypeParam lanes(4, &memory);
    for (int granted = 0; granted < 2; ++granted) {
        memory.allocationsLeft = granted;
        EXPECT_THROW((void)lanes.producer(), std::bad_alloc);
        EXPECT_EQ(lanes.laneCount(), 0U);
        EXPECT_EQ(memory.bytesInUse, 0U);
    }
    memory.allocationsLeft = CountingResource::endless;
    auto producer = lanes.producer();
    EXPECT_EQ(producer.tryEmplace(1), SendResult::ok);
}
#endif

// ---- handles

TYPED_TEST(LanesTest, AssignmentLetsGoOfTheLaneBefore) {
    TypeParam lanes(4);
    auto handle = lanes.producer();
    ASSERT_EQ(handle.tryEmplace(1), SendResult::ok);
    handle = lanes.producer();
    EXPECT_EQ(lanes.laneCount(), 2U);
    EXPECT_EQ(popAll(lanes), (std::vector<int>{1}));
    EXPECT_EQ(lanes.laneCount(), 1U);
    auto& same = handle;
    handle = std::move(same);
    EXPECT_TRUE(handle.isOpen());
}

TYPED_TEST(LanesTest, HandleMayOutliveTheQueue) {
    CountingResource memory;
    {
        typename TypeParam::Producer producer;
        {
            TypeParam lanes(4, &memory);
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

// ---- order: lanes in turn, or merged by a key

struct Stamped {
    int time;
    char producer;
    friend bool operator==(const Stamped& a, const Stamped& b) {
        return a.time == b.time && a.producer == b.producer;
    }
};
using StampedLanes = MpscLanes<Stamped>;

int timeOf(const Stamped& message) {
    return message.time;
}

class MpscLanesOrderTest : public testing::Test {
protected:
    void push(char producer, const std::vector<int>& times) {
        auto& handle = producer == 'a' ? a : producer == 'b' ? b : c;
        for (const int time : times) {
            ASSERT_EQ(handle.tryEmplace(time, producer), SendResult::ok);
        }
    }

    std::vector<Stamped> inTurn(std::size_t max = unlimited) {
        std::vector<Stamped> seen;
        const std::size_t count =
            lanes.consume([&](Stamped& message) { seen.push_back(message); }, max);
        EXPECT_EQ(count, seen.size());
        return seen;
    }
    std::vector<Stamped> byTime(std::size_t max = unlimited) {
        std::vector<Stamped> seen;
        const std::size_t count = lanes.consumeOrdered(
            timeOf, [&](Stamped& message) { seen.push_back(message); }, max);
        EXPECT_EQ(count, seen.size());
        return seen;
    }

    using Seen = std::vector<Stamped>;
    StampedLanes lanes{8};
    StampedLanes::Producer a = lanes.producer();
    StampedLanes::Producer b = lanes.producer();
    StampedLanes::Producer c = lanes.producer();
};

// ---- in turn

TEST_F(MpscLanesOrderTest, ConsumeBeginsWhereTheLastCallEnded) {
    push('a', {1, 2, 3});
    push('b', {4, 5});
    EXPECT_EQ(inTurn(2), (Seen{{1, 'a'}, {2, 'a'}}));
    EXPECT_EQ(inTurn(1), (Seen{{4, 'b'}}));
    EXPECT_EQ(inTurn(1), (Seen{{3, 'a'}})) << "nothing in c";
    EXPECT_EQ(inTurn(), (Seen{{5, 'b'}}));
}

TEST_F(MpscLanesOrderTest, HandlerMayRegisterAndCloseProducers) {
    push('a', {1});
    push('b', {2});
    push('c', {3});
    StampedLanes::Producer latecomer;
    lanes.consume([&](Stamped& message) {
        if (message.producer == 'a') {
            latecomer = lanes.producer();
            ASSERT_EQ(latecomer.tryEmplace(4, 'd'), SendResult::ok);
            a.close();
        } else {
            b.close();
            c.close();
        }
    });
    EXPECT_EQ(inTurn(), (Seen{{4, 'd'}}));
    EXPECT_EQ(inTurn(), Seen{});
    EXPECT_EQ(lanes.laneCount(), 1U);
}

TEST_F(MpscLanesOrderTest, TurnSurvivesTheRemovalOfItsLane) {
    push('a', {1});
    push('c', {3});
    EXPECT_EQ(lanes.tryPop(), (Stamped{1, 'a'}));
    b.close();
    EXPECT_EQ(byTime(1), (Seen{{3, 'c'}})) << "takes b, whose turn it is, out of the list";
    push('a', {4});
    push('c', {5});
    EXPECT_EQ(lanes.tryPop(), (Stamped{5, 'c'}));
    EXPECT_EQ(lanes.tryPop(), (Stamped{4, 'a'}));
    c.close();
    EXPECT_EQ(lanes.tryPop(), std::nullopt);
    EXPECT_EQ(lanes.laneCount(), 1U);
}

// ---- by key

TEST_F(MpscLanesOrderTest, LaneOutOfKeyOrderKeepsItsOwnOrder) {
    push('a', {5, 1});
    push('b', {3});
    EXPECT_EQ(byTime(), (Seen{{3, 'b'}, {5, 'a'}, {1, 'a'}}));
}

TEST_F(MpscLanesOrderTest, OrderedEndsAlthoughItsHandlerKeepsPushing) {
    push('a', {1});
    push('b', {2});
    std::size_t calls = 0;
    const std::size_t count = lanes.consumeOrdered(timeOf, [&](Stamped& message) {
        ++calls;
        push(message.producer, {message.time + 10});
    });
    EXPECT_EQ(count, calls);
    EXPECT_LE(count, 2U) << "no more than were there";
    EXPECT_EQ(lanes.sizeApprox(), 2U);
}

#if defined(__cpp_exceptions)

TEST_F(MpscLanesOrderTest, ThrowingKeyConsumesNothing) {
    push('a', {1});
    push('b', {2});
    const auto throwing = [](const Stamped&) -> int { throw std::runtime_error("key"); };
    EXPECT_THROW(lanes.consumeOrdered(throwing, [](Stamped&) {}), std::runtime_error);
    EXPECT_EQ(lanes.sizeApprox(), 2U);
    EXPECT_EQ(byTime(), (Seen{{1, 'a'}, {2, 'b'}}));
}
#endif

// ---- many consumers

TEST(MpmcLanesTest, HandlerHoldsItsLaneAndNoOther) {
    SharedLanes lanes(4);
    auto first = lanes.producer();
    auto second = lanes.producer();
    ASSERT_EQ(first.tryEmplace(1), SendResult::ok);
    const auto handler = [&](Tracked&) {
        ASSERT_EQ(first.tryEmplace(2), SendResult::ok);
        EXPECT_FALSE(lanes.hasArrival());
        EXPECT_FALSE(lanes.tryPop()) << "a lane that a handler holds";
        ASSERT_EQ(second.tryEmplace(3), SendResult::ok);
        EXPECT_TRUE(lanes.hasArrival());
        EXPECT_EQ(popAll(lanes), (std::vector<int>{3}));
        first.close();
        EXPECT_FALSE(lanes.tryPop());
        EXPECT_EQ(lanes.laneCount(), 2U) << "a held lane stays";
        lanes.close();
        EXPECT_FALSE(lanes.isDrained());
    };
    EXPECT_EQ(lanes.consume(handler), 1U);
    EXPECT_TRUE(lanes.hasArrival());
    EXPECT_FALSE(lanes.isDrained());
    EXPECT_EQ(popAll(lanes), (std::vector<int>{2}));
    EXPECT_TRUE(lanes.isDrained());
    EXPECT_EQ(lanes.laneCount(), 1U);
}

TEST(MpmcLanesTest, OnePollFreesAllLanesThatAreDoneWith) {
    CountingResource memory;
    SharedLanes lanes(4, &memory);
    auto staying = lanes.producer();
    const int each = memory.allocations;
    for (int i = 0; i < 3; ++i) {
        (void)lanes.producer();
    }
    ASSERT_EQ(lanes.laneCount(), 4U);
    EXPECT_FALSE(lanes.tryPop());
    EXPECT_EQ(lanes.laneCount(), 1U);
    EXPECT_EQ(memory.deallocations, 3 * each);
    ASSERT_EQ(staying.tryEmplace(1), SendResult::ok);
    ASSERT_EQ(lanes.producer().tryEmplace(2), SendResult::ok);
    EXPECT_EQ(popAll(lanes), (std::vector<int>{2, 1})) << "the turn is behind the lane that stayed";
}

}  // namespace
}  // namespace sluice
