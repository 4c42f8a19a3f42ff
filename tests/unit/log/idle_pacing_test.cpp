#include <sluice/log/detail/idle_pacing.hpp>

#include <gtest/gtest.h>

namespace sluice::log::detail {
namespace {

TEST(LogIdlePacing, ParksWhenNothingComesAndOnlyThen) {
    IdlePacing pacing;
    int before = 0;
    while (!pacing.shouldPark(0)) {
        ++before;
    }
    EXPECT_GT(before, 1) << "the next record is probably near";
    EXPECT_LT(before, 100);
    EXPECT_TRUE(pacing.shouldPark(0)) << "woken in vain, it parks again at once";
    EXPECT_FALSE(pacing.shouldPark(1));
    EXPECT_FALSE(pacing.shouldPark(1000));
    EXPECT_FALSE(pacing.shouldPark(0));
}

}  // namespace
}  // namespace sluice::log::detail
