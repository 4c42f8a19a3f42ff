#include "harness/machine/interruption.hpp"

#include "harness/run/interleave.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace sluice::bench {
namespace {

TEST(InterruptionTest, IsNotedOnceAndForgottenByTheNextWatch) {
    {
        const InterruptionWatch watch;
        EXPECT_FALSE(interrupted());
        std::raise(SIGINT);
        EXPECT_TRUE(interrupted());
    }
    const InterruptionWatch watch;
    EXPECT_FALSE(interrupted());
    std::raise(SIGTERM);
    EXPECT_TRUE(interrupted());
}

// A process that was started with the signals blocked loses none and dies of none.
TEST(InterruptionTest, WhatCameWhileBlockedIsNoted) {
    const sigset_t signals = interruptions();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::raise(SIGINT);
    {
        const InterruptionWatch watch;
        EXPECT_TRUE(interrupted());
    }
    const InterruptionWatch next;
    EXPECT_FALSE(interrupted());
}

// Measured rounds stay, and pairs of rounds stay pairs. The round under way is left out.
TEST(InterruptionTest, EndsARunAfterTheLastWholeRound) {
    const InterruptionWatch watch;
    int runs = 0;
    const auto entry = [&runs] {
        Round round;
        round.ns = 1;
        if (++runs == 8) {
            std::raise(SIGINT);
        }
        return round;
    };
    const std::vector<Series> series =
        interleave({entry, entry, entry}, {0, 10}, [](std::size_t, std::size_t) {});
    EXPECT_EQ(runs, 8);
    for (const Series& each : series) {
        EXPECT_EQ(each.roundNs.size(), 2U);
        EXPECT_EQ(each.error, "");
    }
}

}  // namespace
}  // namespace sluice::bench
