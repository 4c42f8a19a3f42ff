#include "harness/run/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace sluice::bench {
namespace {

using Order = std::vector<std::size_t>;

constexpr std::size_t mostSubjects = 24;

TEST(BalancedOrderTest, RunsEachSubjectOncePerRound) {
    for (std::size_t subjects = 1; subjects <= mostSubjects; ++subjects) {
        for (std::size_t round = 0; round < 3 * subjects; ++round) {
            const Order order = balancedOrder(subjects, round);
            EXPECT_EQ(order.size(), subjects);
            EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), subjects);
        }
    }
}

TEST(BalancedOrderTest, GivesEachSubjectEachPlaceOnceInASquare) {
    for (std::size_t subjects = 1; subjects <= mostSubjects; ++subjects) {
        for (const std::size_t square : {0U, 1U}) {
            std::set<std::pair<std::size_t, std::size_t>> seen;
            for (std::size_t row = 0; row < subjects; ++row) {
                const Order order = balancedOrder(subjects, square * subjects + row);
                for (std::size_t place = 0; place < subjects; ++place) {
                    seen.insert({place, order[place]});
                }
            }
            EXPECT_EQ(seen.size(), subjects * subjects) << subjects << " subjects";
        }
    }
}

TEST(BalancedOrderTest, LetsEachSubjectFollowEachOtherOneEquallyOften) {
    for (std::size_t subjects = 2; subjects <= mostSubjects; ++subjects) {
        const std::size_t times = subjects % 2 == 0 ? 1 : 2;
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> neighbours;
        for (std::size_t row = 0; row < times * subjects; ++row) {
            const Order order = balancedOrder(subjects, row);
            for (std::size_t place = 1; place < subjects; ++place) {
                ++neighbours[{order[place - 1], order[place]}];
            }
        }
        EXPECT_EQ(neighbours.size(), subjects * (subjects - 1)) << subjects << " subjects";
        for (const auto& [pair, count] : neighbours) {
            EXPECT_EQ(count, times) << pair.second << " after " << pair.first << " of " << subjects;
        }
    }
}

}  // namespace
}  // namespace sluice::bench
