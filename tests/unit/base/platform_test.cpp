#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <type_traits>

namespace sluice {
namespace {

static_assert(std::is_same_v<StdPlatform::Atomic<int>, std::atomic<int>>);
static_assert(std::is_same_v<StdPlatform::Cell<int>, Cell<int>>);
static_assert(StdPlatform::Clock::is_steady, "timed waits must not follow the wall clock");
static_assert(std::is_empty_v<StdPlatform>, "a platform is passed as a type and has no state");
static_assert(noexcept(StdPlatform::pause()) && noexcept(StdPlatform::yield()));

// An algorithm as the library writes them: everything of the machine comes from its platform.
template <class Platform>
int countDown(int from) {
    typename Platform::template Atomic<int> left{from};
    int steps = 0;
    while (left.fetch_sub(1, std::memory_order_relaxed) > 0) {
        Platform::pause();
        Platform::yield();
        Platform::Fence::light();
        ++steps;
    }
    return steps;
}

struct CountingPlatform : StdPlatform {
    struct Fence {
        static void light() noexcept { ++fences; }
    };
    static void pause() noexcept { ++pauses; }
    static void yield() noexcept { ++yields; }

    inline static int pauses = 0;
    inline static int yields = 0;
    inline static int fences = 0;
};

TEST(PlatformTest, StandardPlatformRunsAnAlgorithm) {
    EXPECT_EQ(countDown<StdPlatform>(3), 3);
}

TEST(PlatformTest, DerivedPlatformReplacesWhatItRedeclares) {
    EXPECT_EQ(countDown<CountingPlatform>(3), 3);
    EXPECT_EQ(CountingPlatform::pauses, 3);
    EXPECT_EQ(CountingPlatform::yields, 3);
    EXPECT_EQ(CountingPlatform::fences, 3);
}

}  // namespace
}  // namespace sluice
