#include <sluice/base/platform.hpp>
#include <sluice/base/single_core_platform.hpp>

#include "support/testing.hpp"
#include <cstring>

namespace sluice {
namespace {

static_assert(std::is_same_v<StdPlatform::Atomic<int>, std::atomic<int>>);
static_assert(std::is_same_v<StdPlatform::Cell<int>, Cell<int>>);
static_assert(StdPlatform::Clock::is_steady, "timed waits must not follow the wall clock");
static_assert(std::is_empty_v<StdPlatform>, "a platform is passed as a type and has no state");
static_assert(noexcept(StdPlatform::pause()) && noexcept(StdPlatform::yield()));

static_assert(cacheLineSize >= alignof(std::uint32_t));
static_assert((cacheLineSize & (cacheLineSize - 1)) == 0, "alignas takes powers of two only");
#if defined(__x86_64__) || defined(__i386__)
static_assert(cacheLineSize == 64);
#elif defined(__APPLE__) && defined(__aarch64__)
static_assert(cacheLineSize == 128);
#endif

static_assert(noexcept(cpuPause()));

using SingleCore = SingleCorePlatform<ThisProgramRunsOnOneCore>;
using Number = SingleCore::Atomic<std::uint32_t>;

static_assert(sizeof(Number) == sizeof(std::uint32_t));
static_assert(!std::is_copy_constructible_v<Number> && !std::is_copy_assignable_v<Number>);
static_assert(!SingleCore::hasThreads && StdPlatform::hasThreads);

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

TEST(PrefetchTest, TakesAnyAddress) {
    prefetchForWrite(nullptr);
    for (const std::uintptr_t anywhere : {std::uintptr_t{1}, ~std::uintptr_t{0}}) {
        const void* address = nullptr;
        std::memcpy(&address, &anywhere, sizeof address);
        prefetchForWrite(address);
        prefetchForRead(address);
    }
    static const int constant = 7;
    prefetchForWrite(&constant);
    EXPECT_EQ(constant, 7);
}

}  // namespace
}  // namespace sluice
