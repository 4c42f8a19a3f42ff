#include "support/payloads.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_ring.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <list>
#include <stdexcept>
#include <vector>

// The common behaviour of both rings of several producers. Most of it is in RingIntake.

namespace sluice {
namespace {

using namespace test;

struct Mpsc {
    template <class T, std::size_t Capacity, class Traits = QueueTraits>
    using Ring = MpscRing<T, Capacity, Traits>;
};
struct Mpmc {
    template <class T, std::size_t Capacity, class Traits = QueueTraits>
    using Ring = MpmcRing<T, Capacity, Traits>;
};

template <class Kind>
class RingIntakeTest : public testing::Test {};
using Kinds = testing::Types<Mpsc, Mpmc>;
TYPED_TEST_SUITE(RingIntakeTest, Kinds);

template <class Ring>
std::vector<int> takeAll(Ring& ring) {
    std::vector<int> values;
    ring.consume([&](int value) { values.push_back(value); });
    return values;
}

template <class Ring>
std::vector<int> popAll(Ring& ring) {
    std::vector<int> values;
    ring.consume([&](auto& message) { values.push_back(message.value); });
    return values;
}

// ---- single messages

TYPED_TEST(RingIntakeTest, PushTakesItsPlaceWhenItBegins) {
    typename TypeParam::template Ring<Building, 4> ring;
    EXPECT_EQ(ring.tryEmplace(1, [&] { EXPECT_EQ(ring.tryEmplace(2), SendResult::ok); }),
              SendResult::ok);
    EXPECT_EQ(popAll(ring), (std::vector<int>{1, 2}));
}

TYPED_TEST(RingIntakeTest, TakesNoAddressWithTheOperatorOfAMessage) {
    typename TypeParam::template Ring<Disguised, 4> ring;
    auto reservation = ring.tryReserve();
    reservation.emplace(1);
    EXPECT_EQ(reservation->value, 1);
    reservation.commit();
    EXPECT_EQ(popAll(ring), std::vector<int>{1});
}

TYPED_TEST(RingIntakeTest, PushInProgressDelaysLaterMessagesOnly) {
    typename TypeParam::template Ring<Building, 4> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    EXPECT_EQ(ring.tryEmplace(2,
                              [&] {
                                  EXPECT_EQ(ring.tryEmplace(3), SendResult::ok);
                                  EXPECT_EQ(popAll(ring), (std::vector<int>{1}));
                                  EXPECT_FALSE(ring.tryPop());
                                  EXPECT_EQ(ring.sizeApprox(), 2U);
                              }),
              SendResult::ok);
    EXPECT_EQ(popAll(ring), (std::vector<int>{2, 3}));
}

TYPED_TEST(RingIntakeTest, PushInProgressCountsForFull) {
    typename TypeParam::template Ring<Building, 1> ring;
    EXPECT_EQ(ring.tryEmplace(1, [&] { EXPECT_EQ(ring.tryEmplace(2), SendResult::full); }),
              SendResult::ok);
}

TYPED_TEST(RingIntakeTest, ConsumeEndsAlthoughItsHandlerKeepsPushing) {
    typename TypeParam::template Ring<Building, 4> ring;
    ASSERT_EQ(ring.tryEmplace(0), SendResult::ok);
    const std::size_t count = ring.consume(
        [&](Building& message) { EXPECT_EQ(ring.tryEmplace(message.value + 1), SendResult::ok); });
    EXPECT_EQ(count, ring.capacity());
    EXPECT_EQ(popAll(ring), (std::vector<int>{4}));
}

TYPED_TEST(RingIntakeTest, SlotComesBackWhenItsHandlerReturns) {
    typename TypeParam::template Ring<Tracked, 2> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), SendResult::ok);
    std::vector<int> alive;
    std::vector<SendResult> results;
    ring.consume(
        [&](Tracked&) {
            alive.push_back(Tracked::alive);
            results.push_back(ring.tryEmplace(3));
            results.push_back(ring.tryEmplace(4));
        },
        2);
    EXPECT_EQ(alive, (std::vector<int>{2, 1}));
    EXPECT_EQ(results, (std::vector<SendResult>{SendResult::full, SendResult::full, SendResult::ok,
                                                SendResult::full}));
}

TYPED_TEST(RingIntakeTest, DestructorDestroysWhatIsLeft) {
    {
        typename TypeParam::template Ring<Tracked, 4> ring;
        for (int i = 0; i < 4; ++i) {
            ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
        }
        EXPECT_EQ(ring.tryPop()->value, 0);
        EXPECT_EQ(Tracked::alive, 3);
    }
    EXPECT_EQ(Tracked::alive, 0);
}

TYPED_TEST(RingIntakeTest, ReservationIsPublishedByItsCommit) {
    typename TypeParam::template Ring<Tracked, 4> ring;
    {
        auto first = ring.tryReserve();
        ASSERT_TRUE(first);
        EXPECT_EQ(first.number(), 0U);
        first.emplace(1);
        EXPECT_EQ(first->value, 1);
        (*first).value = 5;
        ASSERT_EQ(ring.tryEmplace(2), SendResult::ok);
        EXPECT_FALSE(ring.tryPop()) << "later messages wait for it";
        first.commit();
        EXPECT_FALSE(first);
    }
    EXPECT_EQ(ring.tryPop()->value, 5);
    EXPECT_EQ(ring.tryPop()->value, 2);
    EXPECT_EQ(Tracked::alive, 0);
}

TYPED_TEST(RingIntakeTest, ClosedCountsMoreThanFull) {
    typename TypeParam::template Ring<int, 1> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    EXPECT_FALSE(ring.isClosed());
    ring.close();
    EXPECT_EQ(ring.tryPush(2), SendResult::closed);
    EXPECT_EQ(ring.tryPop(), 1);
    EXPECT_EQ(ring.tryPush(2), SendResult::closed);
}

TYPED_TEST(RingIntakeTest, PushUnderWayAtTheCloseIsDelivered) {
    typename TypeParam::template Ring<Building, 4> ring;
    EXPECT_EQ(ring.tryEmplace(1,
                              [&] {
                                  ring.close();
                                  EXPECT_FALSE(ring.isDrained());
                                  EXPECT_EQ(ring.tryEmplace(2), SendResult::closed);
                              }),
              SendResult::ok);
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(popAll(ring), (std::vector<int>{1}));
    EXPECT_TRUE(ring.isDrained());
}

// ---- ranges

TYPED_TEST(RingIntakeTest, RangeGoesInInItsOrder) {
    typename TypeParam::template Ring<int, 8> ring;
    const std::list<int> range{1, 2, 3};
    EXPECT_EQ(ring.tryPushAll(range.begin(), range.end()), 3U);
    EXPECT_EQ(ring.tryPushAll(range.begin(), range.begin()), 0U) << "an empty range";
    EXPECT_EQ(ring.sizeApprox(), 3U);
    EXPECT_EQ(takeAll(ring), (std::vector<int>{1, 2, 3}));
}

TYPED_TEST(RingIntakeTest, RangeGoesInAsFarAsThereIsRoom) {
    const std::array<int, 7> range{0, 1, 2, 3, 4, 5, 6};
    for (std::size_t before = 0; before <= 5; ++before) {
        typename TypeParam::template Ring<int, 5, ByteTraits> ring;
        for (std::size_t lap = 0; lap < 200; ++lap) {
            for (std::size_t i = 0; i < before; ++i) {
                ASSERT_EQ(ring.tryPush(-1), SendResult::ok);
            }
            ASSERT_EQ(ring.tryPushAll(range.begin(), range.end()), 5 - before);
            ASSERT_EQ(ring.tryPush(9), SendResult::full);
            std::vector<int> expected(before, -1);
            expected.insert(expected.end(), range.begin(),
                            range.end() - static_cast<std::ptrdiff_t>(before + 2));
            ASSERT_EQ(takeAll(ring), expected);
        }
    }
}

TYPED_TEST(RingIntakeTest, RefusedPartOfARangeIsNotMoved) {
    typename TypeParam::template Ring<Tracked, 2> ring;
    std::array<Tracked, 3> range{Tracked(0), Tracked(1), Tracked(2)};
    const auto begin = std::make_move_iterator(range.begin());
    const auto end = std::make_move_iterator(range.end());
    EXPECT_EQ(ring.tryPushAll(begin, end), 2U);
    EXPECT_EQ(range[0].value, Tracked::movedFrom);
    EXPECT_EQ(range[2].value, 2);
    ring.close();
    EXPECT_EQ(ring.tryPushAll(begin + 2, end), 0U);
    EXPECT_EQ(range[2].value, 2);
}

TYPED_TEST(RingIntakeTest, RangeTakesOneCompareExchange) {
    typename TypeParam::template Ring<int, 64, TracingTraits> ring;
    const std::vector<int> range(50, 7);
    WriteTrace::readModifyWrites = 0;
    EXPECT_EQ(ring.tryPushAll(range.begin(), range.end()), 50U);
    EXPECT_EQ(WriteTrace::readModifyWrites, 1);
}

TYPED_TEST(RingIntakeTest, SlotsOfAReservationAreCommittedOneByOne) {
    typename TypeParam::template Ring<Tracked, 4> ring;
    {
        auto slots = ring.tryReserve(3);
        ASSERT_EQ(slots.size(), 3U);
        ASSERT_EQ(ring.tryEmplace(9), SendResult::ok) << "behind all three";
        slots.emplace(0);
        EXPECT_EQ(slots.number(), 0U);
        EXPECT_FALSE(ring.tryPop());
        slots.commit();
        EXPECT_EQ(ring.tryPop()->value, 0);
        EXPECT_EQ(slots.number(), 1U);
        EXPECT_EQ(slots.size(), 2U);
        slots.emplace(1);
    }
    EXPECT_EQ(ring.tryPop()->value, 9) << "what was not committed is skipped";
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

TYPED_TEST(RingIntakeTest, ReservationOfNothingHoldsNothing) {
    typename TypeParam::template Ring<int, 2> ring;
    EXPECT_FALSE(ring.tryReserve(0));
    EXPECT_EQ(ring.tryReserve(unlimited).size(), 2U);
    EXPECT_EQ(ring.consume([](int) {}), 0U) << "both are skipped";
    ring.close();
    EXPECT_EQ(ring.tryReserve(2).result(), SendResult::closed);
}

#if defined(__cpp_exceptions)
struct Refusing {
    explicit Refusing(int number) : value(number) {
        if (number == 2) {
            throw std::runtime_error("constructor");
        }
    }
    int value;
};

TYPED_TEST(RingIntakeTest, RangeEndsAtAConstructorThatThrows) {
    typename TypeParam::template Ring<Refusing, 8> ring;
    const std::array<int, 4> range{0, 1, 2, 3};
    EXPECT_THROW((void)ring.tryPushAll(range.begin(), range.end()), std::runtime_error);
    ASSERT_EQ(ring.tryEmplace(9), SendResult::ok);
    std::vector<int> values;
    ring.consume([&](Refusing& message) { values.push_back(message.value); });
    EXPECT_EQ(values, (std::vector<int>{0, 1, 9}));
    EXPECT_EQ(ring.sizeApprox(), 0U);
}
#endif

}  // namespace
}  // namespace sluice
