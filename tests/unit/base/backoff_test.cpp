#include <sluice/base/backoff.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

struct CountingPlatform : StdPlatform {
    static void pause() noexcept { ++pauses; }
    static void yield() noexcept { ++yields; }

    inline static unsigned pauses = 0;
    inline static unsigned yields = 0;
};

class BackoffTest : public testing::Test {
protected:
    void SetUp() override {
        CountingPlatform::pauses = 0;
        CountingPlatform::yields = 0;
    }

    unsigned pausesOfNextWait() {
        const unsigned before = CountingPlatform::pauses;
        backoff.wait();
        return CountingPlatform::pauses - before;
    }

    BasicBackoff<CountingPlatform> backoff;
};

TEST_F(BackoffTest, DoublesFromOneToTheLimit) {
    std::vector<unsigned> steps;
    while (!backoff.isYielding()) {
        steps.push_back(pausesOfNextWait());
    }
    EXPECT_EQ(steps, (std::vector<unsigned>{1, 2, 4, 8, 16, 32, 64}));
    EXPECT_EQ(CountingPlatform::yields, 0u);
}

TEST_F(BackoffTest, ThenGivesTheProcessorAwayWithoutFurtherPauses) {
    while (!backoff.isYielding()) {
        backoff.wait();
    }
    EXPECT_EQ(pausesOfNextWait(), 0u);
    EXPECT_EQ(pausesOfNextWait(), 0u);
    EXPECT_EQ(CountingPlatform::yields, 2u);
    EXPECT_TRUE(backoff.isYielding());
}

TEST_F(BackoffTest, ResetStartsOver) {
    while (!backoff.isYielding()) {
        backoff.wait();
    }
    backoff.reset();
    EXPECT_FALSE(backoff.isYielding());
    EXPECT_EQ(pausesOfNextWait(), 1u);
    EXPECT_EQ(pausesOfNextWait(), 2u);
}

TEST(StandardBackoffTest, RunsOnTheRealMachine) {
    Backoff backoff;
    for (int i = 0; i < 20; ++i) {
        backoff.wait();
    }
    EXPECT_TRUE(backoff.isYielding());
}

}  // namespace
}  // namespace sluice
