#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/detail/dropping_ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sluice {
namespace {

struct Slot {
    void moveFrom(Slot& other) noexcept { value = other.value; }
    int value = 0;
};

struct SmallTraits : FullBusTraits {
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = static_cast<std::uint8_t>(-10);
};
template <std::size_t Room>
using Ring = detail::DroppingRing<Slot, Room, SmallTraits>;

template <class AnyRing>
PushResult push(AnyRing& ring, int value) {
    auto claim = ring.tryReserve();
    if (claim) {
        claim.emplace().value = value;
        claim.commit();
        return PushResult::ok;
    }
    return claim.result();
}

template <class AnyRing>
std::vector<int> take(AnyRing& ring, std::size_t max = unlimited) {
    std::vector<int> values;
    ring.consumeWhile([&](Slot& slot) { values.push_back(slot.value); }, max, [] { return true; });
    return values;
}

TEST(DroppingRingTest, TheOldestMakesRoom) {
    Ring<3> ring;
    std::vector<int> dropped;
    const auto drop = [&](Slot& slot) { dropped.push_back(slot.value); };
    EXPECT_FALSE(ring.dropOldest(drop)) << "there is none";
    for (int i = 0; i < 300; ++i) {
        while (push(ring, i) == PushResult::full) {
            ASSERT_TRUE(ring.dropOldest(drop));
        }
    }
    ASSERT_EQ(dropped.size(), 297U);
    EXPECT_EQ(dropped.front(), 0);
    EXPECT_EQ(dropped.back(), 296);
    EXPECT_EQ(ring.sizeAtOnce(), 3U);
    EXPECT_EQ(take(ring), (std::vector<int>{297, 298, 299}));
    EXPECT_EQ(ring.sizeAtOnce(), 0U);
}

// However many are published and dropped while a handler runs.
TEST(DroppingRingTest, HandlerThatRunsBlocksNobody) {
    Ring<3> ring;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(push(ring, i), PushResult::ok);
    }
    ring.consumeWhile(
        [&](Slot& slot) {
            for (int i = 100; i < 200; ++i) {
                while (push(ring, i) == PushResult::full) {
                    ASSERT_TRUE(ring.dropOldest([](Slot&) {}));
                }
            }
            EXPECT_EQ(slot.value, 0);
        },
        1, [] { return true; });
    EXPECT_EQ(take(ring), (std::vector<int>{197, 198, 199}));
}

// Not the whole room, dropped one by one, as if that made the stopped thread go on.
TEST(DroppingRingTest, ThreadThatIsStoppedWhileItDropsCostsOneMessage) {
    Ring<4> ring;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(push(ring, i), PushResult::ok);
    }
    std::vector<int> dropped;
    const auto drop = [&](Slot& slot) { dropped.push_back(slot.value); };
    const auto stopped = [&](Slot&) {
        while (push(ring, 4) == PushResult::full) {
            ASSERT_TRUE(ring.dropOldest(drop));
        }
    };
    EXPECT_EQ(ring.consume(stopped, 1), 1U);
    EXPECT_EQ(dropped, std::vector<int>{1});
    EXPECT_EQ(take(ring), (std::vector<int>{2, 3, 4}));
}

TEST(DroppingRingTest, ReservationThatIsNotCommittedLeavesNoMessage) {
    Ring<2> ring;
    for (int i = 0; i < 2; ++i) {
        auto claim = ring.tryReserve();
        ASSERT_TRUE(claim);
        claim.emplace().value = i;
    }
    EXPECT_EQ(ring.sizeAtOnce(), 2U) << "until the consumer comes by";
    EXPECT_EQ(push(ring, 2), PushResult::full);
    EXPECT_TRUE(ring.hasArrival());
    EXPECT_TRUE(take(ring).empty());
    EXPECT_EQ(push(ring, 3), PushResult::ok);
    EXPECT_EQ(take(ring), std::vector<int>{3});
}

TEST(DroppingRingTest, DropsReservationsThatWereNotCommitted) {
    Ring<1> ring;
    {
        auto claim = ring.tryReserve();
        ASSERT_TRUE(claim);
    }
    ASSERT_EQ(push(ring, 1), PushResult::full);
    int dropped = 0;
    EXPECT_TRUE(ring.dropOldest([&](Slot&) { ++dropped; })) << "a slot, and no message";
    EXPECT_EQ(dropped, 0);
    EXPECT_EQ(push(ring, 1), PushResult::ok);
}

TEST(DroppingRingTest, ConsumesAsLongAsItIsToldToGoOn) {
    Ring<3> ring;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(push(ring, i), PushResult::ok);
    }
    std::vector<int> values;
    EXPECT_EQ(ring.consumeWhile([&](Slot& slot) { values.push_back(slot.value); }, unlimited,
                                [&] { return values.size() != 2; }),
              2U);
    EXPECT_EQ(values, (std::vector<int>{0, 1}));
    EXPECT_EQ(take(ring, 0), std::vector<int>{});
    EXPECT_EQ(take(ring), std::vector<int>{2});
}

TEST(DroppingRingTest, EndsWhenEverythingHasBeenHandled) {
    Ring<2> ring;
    ASSERT_EQ(push(ring, 1), PushResult::ok);
    {
        auto claim = ring.tryReserve();
        ASSERT_TRUE(claim);
        ring.close();
        EXPECT_EQ(push(ring, 2), PushResult::closed);
        claim.emplace().value = 3;
        claim.commit();
    }
    EXPECT_TRUE(ring.isClosed());
    EXPECT_FALSE(ring.isDrained());
    ring.consumeWhile([&](Slot&) { EXPECT_FALSE(ring.isDrained()); }, unlimited,
                      [] { return true; });
    EXPECT_TRUE(ring.isDrained());
    EXPECT_EQ(push(ring, 4), PushResult::closed);
    EXPECT_TRUE(ring.isDrained());
}

}  // namespace
}  // namespace sluice
