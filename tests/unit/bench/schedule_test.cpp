#include "harness/schedule.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::bench {
namespace {

TEST(RotatingOrderTest, RunsEachSubjectOncePerRound) {
    for (std::size_t round = 0; round < 12; ++round) {
        const std::vector<std::size_t> order = rotatingOrder(5, round);
        EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 5U);
        EXPECT_EQ(order.size(), 5U);
    }
}

TEST(RotatingOrderTest, GivesEachSubjectEachPlaceOnceInASquare) {
    constexpr std::size_t subjects = 7;
    for (std::size_t place = 0; place < subjects; ++place) {
        std::set<std::size_t> seen;
        for (std::size_t round = 0; round < subjects; ++round) {
            seen.insert(rotatingOrder(subjects, round)[place]);
        }
        EXPECT_EQ(seen.size(), subjects);
    }
}

TEST(SendScheduleTest, DoesNotDriftWithTheNumberOfMessages) {
    const SendSchedule schedule{1000, 12.5};
    EXPECT_EQ(schedule.intended(0), 1000);
    EXPECT_EQ(schedule.intended(2), 1025);
    EXPECT_EQ(schedule.intended(80000000), 1000001000);
}

}  // namespace
}  // namespace sluice::bench
