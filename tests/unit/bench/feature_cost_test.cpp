#include "harness/report/feature_cost.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace sluice::bench {
namespace {

const std::vector<FeatureCost> costs = {{"statistics", "full", "no-stats"},
                                        {"nothing", "full", "absent"}};

// BR-4: the cost of a feature is the difference of two runs of the same round. Here the machine
// slows down from round to round, and the medians alone would say 12.
TEST(FeatureCostTest, IsTheMedianOfTheDifferencesOfEachRound) {
    const Difference difference =
        differenceOf(resultOf("full", {11, 32, 104}), resultOf("no-stats", {10, 20, 100}));
    EXPECT_DOUBLE_EQ(difference.ns, 4);
    EXPECT_TRUE(std::isinf(difference.interval.high)) << "three rounds cannot say";
    const Difference many = differenceOf(resultOf("full", {3, 4, 5, 6, 7, 8}),
                                         resultOf("no-stats", {2, 2, 2, 2, 2, 2}));
    EXPECT_DOUBLE_EQ(many.interval.low, 1);
    EXPECT_DOUBLE_EQ(many.interval.high, 6);
}

TEST(FeatureCostTest, IsPrintedForPairsThatAreThere) {
    std::ostringstream out;
    printFeatureCosts(out,
                      {resultOf("full", {3, 4, 5, 6, 7, 8}),
                       resultOf("no-stats", {2, 2, 2, 2, 2, 2}), invalidResult("absent")},
                      costs);
    const std::string table = out.str();
    EXPECT_EQ(table.find("cost of features: spsc-64B, "), 0U);
    EXPECT_NE(table.find("statistics"), std::string::npos);
    EXPECT_NE(table.find("+3.50  [+1.00 +6.00]"), std::string::npos) << table;
    EXPECT_EQ(table.find("nothing"), std::string::npos);
}

TEST(FeatureCostTest, IsPrintedOnlyOfWholeMessagesInTheMainSection) {
    const auto printed = [](const Scenario& scenario) {
        std::vector<Result> results = {resultOf("full", {3}), resultOf("no-stats", {2})};
        for (Result& result : results) {
            result.scenario = scenario;
        }
        std::ostringstream out;
        printFeatureCosts(out, results, costs);
        return out.str();
    };
    Scenario scenario = throughputScenario();
    EXPECT_NE(printed(scenario), "");
    scenario.section = controlGroup;
    EXPECT_EQ(printed(scenario), "");
    scenario.section = "";
    scenario.kind = Kind::idleLatency;
    EXPECT_EQ(printed(scenario), "");
}

TEST(FeatureCostTest, StandsInTheReportAsRatio) {
    const std::vector<Comparison> comparisons =
        compareFeatures({resultOf("full", {3, 6}), resultOf("no-stats", {2, 2})}, costs);
    ASSERT_EQ(comparisons.size(), 1U);
    EXPECT_EQ(comparisons.front().role, "cost of statistics");
    EXPECT_EQ(comparisons.front().baseline, "no-stats");
    EXPECT_DOUBLE_EQ(comparisons.front().ratio, 2.25);
    EXPECT_TRUE(compareFeatures({}, costs).empty());
}

}  // namespace
}  // namespace sluice::bench
