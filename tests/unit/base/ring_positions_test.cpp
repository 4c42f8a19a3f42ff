#include <sluice/base/ring_positions.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

using Byte = RingPositions<std::uint8_t>;

static_assert(roundUpToPowerOfTwo(1) == 1 && roundUpToPowerOfTwo(5) == 8 &&
              roundUpToPowerOfTwo(8) == 8);
static_assert(Byte::maxCapacity == 64);
static_assert(Byte::isMarked(7) && !Byte::isMarked(6) && Byte::unmarked(7) == 6);

TEST(RingPositionsTest, DistancesAndSlotsStandTheWrap) {
    std::uint8_t position = 250;
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(Byte::distance(250, position), i);
        EXPECT_EQ(Byte::slot(position, 3), (125 + i) % 4);
        position = Byte::next(position);
    }
    EXPECT_EQ(position, 14);
}

}  // namespace
}  // namespace sluice
