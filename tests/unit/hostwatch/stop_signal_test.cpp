#include "hostwatch/stop_signal.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

/// The request comes at a different moment in each round: before, at and in the sleep.
TEST(StopSignal, EndsASleepThatWouldLast) {
    for (int round = 0; round < 200; ++round) {
        StopSignal stop;
        std::atomic<bool> aboutToSleep{false};
        std::thread sleeper([&] {
            aboutToSleep.store(true, std::memory_order_relaxed);
            stop.waitUntil(Clock::now() + 24h);
        });
        while (!aboutToSleep.load(std::memory_order_relaxed)) {
            std::this_thread::yield();
        }
        for (int pause = 0; pause < round * 10; ++pause) {
            std::this_thread::yield();
        }
        stop.request();
        sleeper.join();
        EXPECT_TRUE(stop.requested());
    }
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
