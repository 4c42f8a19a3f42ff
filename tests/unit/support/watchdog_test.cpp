#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace sluice::test {
namespace {

TEST(WatchdogTest, StaysQuietWhenTheScopeEnds) {
    std::atomic<int> printed{0};
    {
        const Watchdog watchdog([&](std::FILE*) { printed.fetch_add(1); });
    }
    EXPECT_EQ(printed.load(), 0);
}

TEST(WatchdogDeathTest, NamesTheTestAndPrintsItsState) {
    // The watchdog has a thread of its own: the child starts afresh instead of forking from here.
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            const Watchdog watchdog([](std::FILE* out) { std::fputs("delivered 41 of 42\n", out); },
                                    std::chrono::seconds(0));
            for (;;) {
                std::this_thread::yield();
            }
        },
        "WatchdogDeathTest.NamesTheTestAndPrintsItsState did not end within 0 s\ndelivered 41 of "
        "42");
}

}  // namespace
}  // namespace sluice::test
