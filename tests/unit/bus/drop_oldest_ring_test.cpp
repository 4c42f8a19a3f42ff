#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/drop_oldest.hpp>

#include "support/testing.hpp"

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
using Ring = detail::DropOldestRing<Slot, Room, SmallTraits>;

template <class AnyRing>
SendResult push(AnyRing& ring, int value) {
    auto claim = ring.tryReserve();
    if (claim) {
        claim.emplace().value = value;
        claim.commit();
        return SendResult::ok;
    }
    return claim.result();
}

/// As a publisher does; returns the values that were dropped.
template <class AnyRing>
std::vector<int> publish(AnyRing& ring, int value) {
    std::vector<int> dropped;
    EXPECT_EQ(push(ring, value), SendResult::ok);
    ring.dropExcess([&](Slot& slot) { dropped.push_back(slot.value); });
    return dropped;
}

template <class AnyRing>
std::vector<int> take(AnyRing& ring, std::size_t max = unlimited) {
    std::vector<int> values;
    ring.consumeWhile([&](Slot& slot) { values.push_back(slot.value); }, max, [] { return true; });
    return values;
}

// Not the whole room, dropped one by one, as if that made the stopped thread go on.
TEST(DropOldestRingTest, ThreadThatIsStoppedWhileItDropsCostsOneMessage) {
    Ring<4> ring;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(push(ring, i), SendResult::ok);
    }
    const auto stopped = [&](Slot&) {
        EXPECT_EQ(publish(ring, 4), std::vector<int>{});
        EXPECT_EQ(publish(ring, 5), std::vector<int>{1});
    };
    EXPECT_EQ(ring.consume(stopped, 1), 1U);
    EXPECT_EQ(take(ring), (std::vector<int>{2, 3, 4, 5}));
}

// Otherwise the newest value could be lost for a publication that is refused.
TEST(DropOldestRingTest, NothingIsDroppedBeforeANewerMessageIsThere) {
    Ring<1> ring;
    ASSERT_EQ(push(ring, 0), SendResult::ok);
    {
        auto claim = ring.tryReserve();
        ASSERT_TRUE(claim);
        claim.emplace().value = 1;
    }
    ring.close();
    EXPECT_EQ(push(ring, 2), SendResult::closed);
    EXPECT_EQ(take(ring), std::vector<int>{0});
}

TEST(DropOldestRingTest, DropsReservationsThatWereNotCommitted) {
    Ring<1> ring;
    {
        auto claim = ring.tryReserve();
        ASSERT_TRUE(claim);
    }
    EXPECT_EQ(publish(ring, 1), std::vector<int>{}) << "a slot, and no message";
    EXPECT_EQ(ring.sizeExact(), 1U);
    EXPECT_EQ(take(ring), std::vector<int>{1});
}

}  // namespace
}  // namespace sluice
