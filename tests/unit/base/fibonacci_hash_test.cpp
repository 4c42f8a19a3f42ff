#include <sluice/base/fibonacci_hash.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

namespace sluice {
namespace {

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
