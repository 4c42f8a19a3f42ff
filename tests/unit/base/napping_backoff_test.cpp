#include <sluice/base/napping_backoff.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>

namespace sluice {
namespace {

struct CountingPlatform : StdPlatform {
    static void pause() noexcept { ++pauses; }
    static void yield() noexcept { ++yields; }

    inline static unsigned pauses = 0;
    inline static unsigned yields = 0;
};

// Each sleep ends with a switch to this thread that it asked for.
long voluntarySwitches() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

TEST(NappingBackoffTest, SpinsThenYieldsThenSleeps) {
    BasicNappingBackoff<CountingPlatform> backoff;
    while (!backoff.isLong()) {
        backoff.wait();
    }
    EXPECT_EQ(CountingPlatform::pauses, 127U);
    EXPECT_EQ(CountingPlatform::yields, 0U);
    for (unsigned yields = 1; yields <= 16; ++yields) {
        backoff.wait();
        EXPECT_EQ(CountingPlatform::yields, yields);
    }
    const long before = voluntarySwitches();
    for (int i = 0; i < 10; ++i) {
        backoff.wait();
    }
    EXPECT_EQ(CountingPlatform::pauses, 127U);
    EXPECT_EQ(CountingPlatform::yields, 16U);
    EXPECT_GE(voluntarySwitches() - before, 10);
}

}  // namespace
}  // namespace sluice
