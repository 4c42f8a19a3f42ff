#include <sluice/base/ring_storage.hpp>
#include <sluice/base/thread_slots.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using Byte = RingPositions<std::uint8_t>;

static_assert(roundUpToPowerOfTwo(1) == 1 && roundUpToPowerOfTwo(5) == 8 &&
              roundUpToPowerOfTwo(8) == 8);
static_assert(Byte::maxCapacity == 64);
static_assert(Byte::isMarked(7) && !Byte::isMarked(6) && Byte::unmarked(7) == 6);

TEST(RingPositionsTest, DistancesAndSlotsStandTheWrap) {
    int slots[4] = {};
    std::uint8_t position = 250;
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(Byte::distance(250, position), i);
        EXPECT_EQ(&Byte::at(slots, position, Byte::maskFor(4)), &slots[(125 + i) % 4]);
        position = Byte::next(position);
    }
    EXPECT_EQ(position, 14);
}

TEST(RingPositionsTest, SlotsMayHaveAnOddNumberOfBytes) {
    char slots[8][3] = {};
    EXPECT_EQ(&Byte::at(slots, std::uint8_t{10}, Byte::maskFor(8)), &slots[5]);
}

// The mark of a word is no part of the position that it carries.
TEST(RingPositionsTest, AMarkedPositionHasTheSlotOfThePlainOne) {
    char slots[8][6] = {};
    EXPECT_EQ(&Byte::at(slots, std::uint8_t{7}, Byte::maskFor(8)), &slots[3]);
    EXPECT_EQ(&Byte::at(slots, std::uint8_t{6}, Byte::maskFor(8)), &slots[3]);
}

// Into 64 places by the upper bits, which are 0 in all of these numbers themselves.
TEST(FibonacciHashTest, SpreadsNumbersInARow) {
    for (const std::uint64_t step : {1U, 2U, 8U, 64U, 4096U}) {
        std::set<std::uint64_t> places;
        for (std::uint64_t i = 0; i < 64; ++i) {
            places.insert(fibonacciHash(i * step) >> 58U);
        }
        EXPECT_GE(places.size(), 24U) << step;
    }
}

TEST(FibonacciHashTest, TakesAnAddressAsItsNumber) {
    const std::array<int, 2> numbers{};
    const auto distance = sizeof(int) * fibonacciHash(1);
    EXPECT_EQ(fibonacciHash(&numbers[1]) - fibonacciHash(&numbers[0]), distance);
}

}  // namespace
}  // namespace sluice
