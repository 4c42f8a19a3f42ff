#include "hostwatch/stop_signal.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

TEST(StopSignal, EndsASleepThatWouldLast) {
    StopSignal stop;
    std::thread sleeper([&stop] { stop.waitUntil(Clock::now() + 24h); });
    stop.request();
    sleeper.join();
    EXPECT_TRUE(stop.requested());
}

TEST(StopSignal, DoesNotSleepAfterTheRequest) {
    StopSignal stop;
    stop.request();
    stop.request();
    stop.waitUntil(Clock::now() + 24h);
    EXPECT_TRUE(stop.requested());
}

TEST(StopSignal, SleepsUntilTheDeadline) {
    StopSignal stop;
    const Clock::time_point deadline = Clock::now() + 2ms;
    stop.waitUntil(deadline);
    EXPECT_GE(Clock::now(), deadline);
    EXPECT_FALSE(stop.requested());
}

}  // namespace
}  // namespace hostwatch
