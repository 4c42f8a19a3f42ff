#include "hostwatch/rolling_figure.hpp"

#include <gtest/gtest.h>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{1000s};

TEST(RollingFigure, HasNothingToSayBeforeTheFirstValue) {
    EXPECT_FALSE(RollingFigure().summary(start));
    EXPECT_FALSE(RollingFigure().summary(Clock::time_point(0s)));
}

TEST(RollingFigure, SumsUpTheValuesInTheWindow) {
    RollingFigure figure;
    figure.add(4, start);
    figure.add(-2, start + 1s);
    figure.add(7, start + 1s + 1ms);
    const auto summary = figure.summary(start + 2s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->last, 7);
    EXPECT_DOUBLE_EQ(summary->min, -2);
    EXPECT_DOUBLE_EQ(summary->mean, 3);
    EXPECT_DOUBLE_EQ(summary->max, 7);
}

TEST(RollingFigure, ForgetsWhatIsOlderThanTheWindow) {
    RollingFigure figure;
    figure.add(100, start);
    figure.add(1, start + 5s);
    EXPECT_DOUBLE_EQ(figure.summary(start + 9s + 999ms)->max, 100);
    EXPECT_DOUBLE_EQ(figure.summary(start + 10s)->max, 1);
    EXPECT_TRUE(figure.summary(start + 14s + 999ms));
    EXPECT_FALSE(figure.summary(start + 15s));
}

TEST(RollingFigure, UsesASlotAgainAfterAWholeRound) {
    RollingFigure figure;
    figure.add(100, start);
    figure.add(3, start + 10s);
    const auto summary = figure.summary(start + 10s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->max, 3);
    EXPECT_DOUBLE_EQ(summary->mean, 3);
}

TEST(RollingFigure, IgnoresAValueThatIsLateByAWholeWindow) {
    RollingFigure figure;
    figure.add(3, start + 10s);
    figure.add(100, start);
    const auto summary = figure.summary(start + 10s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->max, 3);
    EXPECT_DOUBLE_EQ(summary->last, 3);
}

TEST(RollingFigure, KeepsItsMemoryWhateverTheRate) {
    RollingFigure figure;
    for (int i = 0; i < 1'000'000; ++i) {
        figure.add(i % 100, start + i * 1us);
    }
    const auto summary = figure.summary(start + 1s);
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->mean, 49.5);
    EXPECT_DOUBLE_EQ(summary->max, 99);
}

TEST(RollingFigure, TellsOneValueWhereThatIsEnough) {
    RollingFigure figure;
    EXPECT_DOUBLE_EQ(figure.lastOrZero(start), 0);
    EXPECT_DOUBLE_EQ(figure.maxOrZero(start), 0);
    figure.add(7, start);
    figure.add(5, start);
    EXPECT_DOUBLE_EQ(figure.lastOrZero(start), 5);
    EXPECT_DOUBLE_EQ(figure.maxOrZero(start), 7);
    EXPECT_DOUBLE_EQ(figure.lastOrZero(start + 20s), 0);
}

}  // namespace
}  // namespace hostwatch
