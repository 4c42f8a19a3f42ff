#include "harness/report/line_target.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

// The line takes 51 ns and a read of the clock 25.
const std::vector<double> threeLines = {178, 178, 178, 178, 178, 178};

TEST(LineTargetTest, CountsCacheLinesWithoutTheClock) {
    const std::vector<Result> results = {resultOf("ours", threeLines)};
    const std::vector<Verdict> verdicts =
        judgeByLine({{"spsc-64B", "ours", 3}, {"spsc-64B", "ours", 2.9}, {"other", "ours", 9}},
                    results, quietMachine());
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_DOUBLE_EQ(verdicts[0].reached, 3);
    EXPECT_TRUE(verdicts[0].isMet());
    EXPECT_FALSE(verdicts[1].isMet());
    EXPECT_NE(verdicts[0].target.baseline.find("the clock's 25.0 ns subtracted"),
              std::string::npos);
}

TEST(LineTargetTest, WantsTheWholeIntervalThere) {
    const std::vector<Result> results = {resultOf("ours", {178, 178, 178, 178, 178, 300}),
                                         resultOf("few", {178, 178})};
    const std::vector<Verdict> verdicts =
        judgeByLine({{"spsc-64B", "ours", 3}, {"spsc-64B", "few", 3}}, results, quietMachine());
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_DOUBLE_EQ(verdicts[0].reached, 3);
    EXPECT_FALSE(verdicts[0].isMet());
    EXPECT_FALSE(verdicts[1].isMet()) << "two rounds cannot say";
}

TEST(LineTargetTest, SaysNothingWhereClockOrResultAreUnknown) {
    MachineRecord machine = quietMachine();
    EXPECT_TRUE(judgeByLine({{"spsc-64B", "ours", 3}}, {invalidResult("ours")}, machine).empty());
    machine.clockNs = -1;
    EXPECT_TRUE(
        judgeByLine({{"spsc-64B", "ours", 3}}, {resultOf("ours", threeLines)}, machine).empty());
}

}  // namespace
}  // namespace sluice::bench
