#include <sluice/base/single_core_platform.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace sluice {
namespace {

using Platform = SingleCorePlatform<ThisProgramRunsOnOneCore>;
using Number = Platform::Atomic<std::uint32_t>;

static_assert(sizeof(Number) == sizeof(std::uint32_t));
static_assert(!std::is_copy_constructible_v<Number> && !std::is_copy_assignable_v<Number>);
static_assert(!Platform::hasThreads && StdPlatform::hasThreads);

TEST(SingleCorePlatformTest, AtomicDoesWhatStdAtomicDoes) {
    constexpr auto order = std::memory_order_seq_cst;
    Number number{5};
    EXPECT_EQ(number.load(order), 5U);
    number.store(6, order);
    EXPECT_EQ(number.exchange(8, order), 6U);
    EXPECT_EQ(number.fetch_add(2, order), 8U);
    EXPECT_EQ(number.fetch_sub(6, order), 10U);
    EXPECT_EQ(number.fetch_or(3, order), 4U);
    std::uint32_t expected = 0;
    EXPECT_FALSE(number.compare_exchange_strong(expected, 1, order));
    EXPECT_EQ(expected, 7U);
    EXPECT_TRUE(number.compare_exchange_strong(expected, 1, order));
    EXPECT_EQ(number.load(order), 1U);
}

TEST(SingleCorePlatformTest, ThereIsOneThread) {
    EXPECT_NE(Platform::thisThread(), nullptr);
    EXPECT_EQ(Platform::thisThread(), Platform::thisThread());
}

}  // namespace
}  // namespace sluice
