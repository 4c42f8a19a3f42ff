#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

// Reservations, shutdown and misuse of an SpscRing.

namespace sluice {
namespace {

using namespace test;
using Ring = SpscRing<Building, 2>;

static_assert(!std::is_copy_constructible_v<Ring::Reservation>);
static_assert(!std::is_move_constructible_v<Ring::Reservation>);
static_assert(!std::is_convertible_v<Ring::Reservation, bool>, "if (reservation) and no more");

// ---- reservations

TEST(SpscReservationTest, MessageAppearsWithTheCommit) {
    SpscRing<std::string, 2> ring;
    auto reservation = ring.tryReserve();
    ASSERT_TRUE(reservation);
    EXPECT_EQ(reservation.result(), SendResult::ok);
    std::string& message = reservation.emplace("ab");
    EXPECT_EQ(&*reservation, &message);
    message += 'c';
    reservation->push_back('d');
    EXPECT_EQ(ring.front(), nullptr);
    EXPECT_EQ(ring.sizeApprox(), 0U);
    reservation.commit();
    ASSERT_NE(ring.front(), nullptr);
    EXPECT_EQ(*ring.front(), "abcd");
    EXPECT_EQ(ring.front(), &message) << "built in its slot";
}

TEST(SpscReservationTest, WithoutACommitNothingHasHappened) {
    SpscRing<Tracked, 1> ring;
    {
        auto reservation = ring.tryReserve();
        reservation.emplace(1);
        EXPECT_EQ(Tracked::alive, 1);
    }
    EXPECT_EQ(Tracked::alive, 0);
    { const auto reservation = ring.tryReserve(); }
    EXPECT_EQ(ring.front(), nullptr);
    ASSERT_EQ(ring.tryEmplace(2), SendResult::ok) << "its slot is free again";
    EXPECT_EQ(ring.tryPop()->value, 2);
}

TEST(SpscReservationTest, CommitEndsTheReservation) {
    SpscRing<Tracked, 2> ring;
    auto first = ring.tryReserve();
    first.emplace(1);
    first.commit();
    EXPECT_FALSE(first);
    EXPECT_EQ(first.result(), SendResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), SendResult::ok) << "although the object still lives";
    EXPECT_EQ(ring.tryPop()->value, 1);
    EXPECT_EQ(ring.tryPop()->value, 2);
    EXPECT_EQ(Tracked::alive, 0);
}

TEST(SpscReservationTest, FailsWhenFull) {
    SpscRing<Tracked, 1> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    {
        const auto reservation = ring.tryReserve();
        EXPECT_FALSE(reservation);
        EXPECT_EQ(reservation.result(), SendResult::full);
    }
    EXPECT_EQ(ring.tryPop()->value, 1);
    EXPECT_TRUE(ring.tryReserve());
}

TEST(SpscReservationTest, FailsWhenClosed) {
    Ring ring;
    ring.close();
    EXPECT_EQ(ring.tryReserve().result(), SendResult::closed);
    EXPECT_TRUE(ring.isDrained());
}

TEST(SpscReservationTest, WorksAcrossTheWrap) {
    SpscRing<int, 3, ByteTraits> ring;
    for (int i = 0; i < 300; ++i) {
        {
            const auto dropped = ring.tryReserve();
        }
        auto reservation = ring.tryReserve();
        reservation.emplace(i);
        reservation.commit();
        ASSERT_EQ(ring.tryPop(), i);
    }
}

TEST(SpscReservationTest, QueueIsNotDrainedWhileOneIsOpen) {
    Ring ring;
    {
        auto reservation = ring.tryReserve();
        ring.close();
        EXPECT_FALSE(ring.isDrained());
        reservation.emplace(1);
        EXPECT_FALSE(ring.isDrained());
        reservation.commit();
        EXPECT_FALSE(ring.isDrained()) << "accepted before the close, so it is delivered";
        EXPECT_EQ(ring.tryPop()->value, 1);
        EXPECT_TRUE(ring.isDrained());
    }
    EXPECT_TRUE(ring.isDrained());
}

TEST(SpscReservationTest, DroppingTheLastOneDrainsAClosedQueue) {
    Ring ring;
    {
        const auto reservation = ring.tryReserve();
        ring.close();
        EXPECT_FALSE(ring.isDrained());
    }
    EXPECT_TRUE(ring.isDrained());
}

#if defined(__cpp_exceptions)
TEST(SpscReservationTest, StaysOpenWhenTheConstructorThrows) {
    Ring ring;
    auto reservation = ring.tryReserve();
    EXPECT_THROW(reservation.emplace(1, [] { throw std::runtime_error("constructor"); }),
                 std::runtime_error);
    EXPECT_EQ(ring.front(), nullptr);
    reservation.emplace(2);
    reservation.commit();
    EXPECT_EQ(ring.tryPop()->value, 2);
}
#endif

// ---- shutdown

TEST(SpscRingClosingTest, ClosedCountsMoreThanFull) {
    SpscRing<int, 1> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    EXPECT_FALSE(ring.isClosed());
    ring.close();
    ring.close();
    EXPECT_TRUE(ring.isClosed());
    EXPECT_EQ(ring.tryPush(2), SendResult::closed);
    EXPECT_EQ(ring.tryPop(), 1);
    EXPECT_EQ(ring.tryPush(2), SendResult::closed);
}

TEST(SpscRingClosingTest, IsDrainedOnlyWhenClosedAndEmpty) {
    SpscRing<int, 2> ring;
    EXPECT_FALSE(ring.isDrained()) << "empty but open";
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ring.close();
    EXPECT_FALSE(ring.isDrained());
    ring.consume([&](int) { EXPECT_FALSE(ring.isDrained()) << "its handler still runs"; });
    EXPECT_TRUE(ring.isDrained());
}

TEST(SpscRingClosingTest, PushUnderWayAtTheCloseIsDelivered) {
    Ring ring;
    EXPECT_EQ(ring.tryEmplace(1,
                              [&] {
                                  ring.close();
                                  EXPECT_TRUE(ring.isClosed());
                                  EXPECT_FALSE(ring.isDrained());
                              }),
              SendResult::ok);
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(ring.tryPop()->value, 1);
    EXPECT_TRUE(ring.isDrained());
}

#if defined(__cpp_exceptions)
TEST(SpscRingClosingTest, PushThatFailsAfterTheCloseLeavesADrainedQueue) {
    Ring ring;
    EXPECT_THROW((void)ring.tryEmplace(1,
                                       [&] {
                                           ring.close();
                                           throw std::runtime_error("constructor");
                                       }),
                 std::runtime_error);
    EXPECT_TRUE(ring.isDrained());
}
#endif

// A close that overtakes a push must notice the push (edge E3). The test closes at the critical
// moment: the producer has announced its push and has not yet looked whether the queue is closed.
struct HookedFence {
    static void light() {
        if (onLight != nullptr) {
            std::exchange(onLight, nullptr)();
        }
    }
    static void heavy() { ++heavyFences; }
    inline static void (*onLight)() = nullptr;
    inline static int heavyFences = 0;
};
struct HookedPlatform : StdPlatform {
    using Fence = HookedFence;
};
struct HookedTraits : QueueTraits {
    using Platform = HookedPlatform;
};
using HookedRing = SpscRing<int, 2, HookedTraits>;
HookedRing* hookedRing = nullptr;

TEST(SpscRingClosingTest, CloseBetweenAnnouncementAndLookRefusesThePush) {
    HookedRing ring;
    hookedRing = &ring;
    HookedFence::onLight = [] {
        hookedRing->close();
        EXPECT_FALSE(hookedRing->isDrained()) << "the push is announced";
    };
    EXPECT_EQ(ring.tryPush(1), SendResult::closed);
    EXPECT_EQ(HookedFence::onLight, nullptr) << "each push has its fence";
    EXPECT_TRUE(ring.isDrained());
}

TEST(SpscRingClosingTest, TheEndOnceSeenStays) {
    HookedRing ring;
    hookedRing = &ring;
    ring.close();
    EXPECT_TRUE(ring.isDrained());
    HookedFence::onLight = [] {
        EXPECT_TRUE(hookedRing->isDrained()) << "although a push is announced";
    };
    EXPECT_EQ(ring.tryPush(1), SendResult::closed);
    EXPECT_EQ(HookedFence::onLight, nullptr);
}

// The same for a lane that is registered after the end.
TEST(SpscRingClosingTest, TheEndOfLanesStays) {
    static MpscLanes<int, HookedTraits>* hookedLanes = nullptr;
    MpscLanes<int, HookedTraits> lanes(2);
    hookedLanes = &lanes;
    lanes.close();
    EXPECT_TRUE(lanes.isDrained());
    auto latecomer = lanes.producer();
    HookedFence::onLight = [] { EXPECT_TRUE(hookedLanes->isDrained()); };
    EXPECT_EQ(latecomer.tryPush(1), SendResult::closed);
    EXPECT_EQ(HookedFence::onLight, nullptr);
}

TEST(SpscRingClosingTest, OnlyAClosedQueueCostsAHeavyFence) {
    HookedRing ring;
    HookedFence::heavyFences = 0;
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(HookedFence::heavyFences, 0);
    ring.close();
    EXPECT_TRUE(ring.isDrained());
    EXPECT_EQ(HookedFence::heavyFences, 1);
}

// ---- misuse

#ifndef NDEBUG
TEST(SpscRingDeathTest, PushWhileAReservationIsOpen) {
    Ring ring;
    const auto reservation = ring.tryReserve();
    EXPECT_DEATH((void)ring.tryEmplace(1), "commit or drop the reservation first");
    EXPECT_DEATH((void)ring.tryReserve(), "commit or drop the reservation first");
}

TEST(SpscRingDeathTest, MisusedReservation) {
    Ring ring;
    auto reservation = ring.tryReserve();
    EXPECT_DEATH(reservation.commit(), "call emplace first");
    reservation.emplace(1);
    EXPECT_DEATH(reservation.emplace(2), "holds no message yet");
    reservation.commit();
    EXPECT_DEATH(reservation.commit(), "commit once");
    EXPECT_DEATH(reservation.emplace(2), "is not committed");
    ring.close();
    auto refused = ring.tryReserve();
    EXPECT_DEATH(refused.emplace(3), "a reservation that succeeded");
}

// A message that is being moved out is still the consumer's.
TEST(SpscRingDeathTest, SecondConsumerWhileAMessageIsMovedOut) {
    struct Curious {
        explicit Curious(SpscRing<Curious, 2>& of) : ring(of) {}
        Curious(Curious&& other) noexcept : ring(other.ring) { (void)ring.tryPop(); }
        SpscRing<Curious, 2>& ring;
    };
    SpscRing<Curious, 2> ring;
    ASSERT_EQ(ring.tryEmplace(ring), SendResult::ok);
    EXPECT_DEATH((void)ring.tryPop(), "let one thread at a time consume");
}

TEST(SpscRingDeathTest, PopFrontOfAnEmptyRing) {
    Ring ring;
    EXPECT_DEATH(ring.popFront(), "only after front\\(\\) returned one");
}

TEST(SpscRingDeathTest, HandlerThatConsumesFromItsOwnQueue) {
    SpscRing<int, 4> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    const char* const advice = "let one thread at a time consume";
    EXPECT_DEATH(ring.consume([&](int) { ring.consume([](int) {}); }), advice);
    EXPECT_DEATH(ring.consume([&](int) { (void)ring.tryPop(); }), advice);
    EXPECT_DEATH(ring.consume([&](int) { (void)ring.front(); }), advice);
    EXPECT_DEATH(ring.consume([&](int) { ring.popFront(); }), advice);
}

TEST(SpscRingDeathTest, SecondProducerInTheMiddleOfAPush) {
    Ring ring;
    const char* const advice = "use MpscRing or MpscLanes, or one queue per producer";
    EXPECT_DEATH((void)ring.tryEmplace(1, [&] { (void)ring.tryEmplace(2); }), advice);
    EXPECT_DEATH((void)ring.tryEmplace(1, [&] { (void)ring.tryReserve(); }), advice);
}
#endif

}  // namespace
}  // namespace sluice
