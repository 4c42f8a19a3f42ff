#include "harness/run/child.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace sluice::bench {
namespace {

TEST(ChildTest, AnswersWithValueAndCounts) {
    int here = 1;
    const Round round = inChild([&here](Round& answer) {
        here = 2;
        answer.ns = 12.5;
        answer.counts.planned = answer.counts.attempted = 3;
        answer.counts.accepted = answer.counts.delivered = 3;
    });
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.ns, 12.5);
    EXPECT_EQ(round.counts.delivered, 3U);
    EXPECT_EQ(here, 1) << "it has its own memory";
}

TEST(ChildTest, BooksThatDoNotBalanceAreAnError) {
    const Round round = inChild([](Round& answer) { answer.counts.planned = 1; });
    EXPECT_NE(round.error, "");
}

TEST(ChildTest, ChildThatDiesIsAnError) {
    const Round round = inChild([](Round&) { std::_Exit(3); });
    EXPECT_EQ(round.error, "the child process did not answer");
}

TEST(ChildTest, ResidentMemoryGrowsWithWhatIsTouched) {
    const double before = residentMiB();
    ASSERT_GT(before, 0);
    const std::vector<char> touched(64U << 20U, 'x');
    EXPECT_GE(residentMiB() - before, 32) << touched[1];
}

}  // namespace
}  // namespace sluice::bench
