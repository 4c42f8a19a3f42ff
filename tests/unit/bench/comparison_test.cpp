#include "harness/report/comparison.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::bench {
namespace {

const Comparison* find(const std::vector<Comparison>& comparisons, const std::string& subject,
                       const std::string& role) {
    const auto found = std::find_if(comparisons.begin(), comparisons.end(), [&](const auto& each) {
        return each.subject == subject && each.role == role;
    });
    return found == comparisons.end() ? nullptr : &*found;
}

TEST(ComparisonTest, PairsRoundsInsteadOfDividingMedians) {
    const Comparison comparison =
        compareRounds(resultOf("a", {10, 20, 90}), resultOf("b", {100, 20, 100}), "role");
    EXPECT_DOUBLE_EQ(comparison.ratio, 0.9);
    EXPECT_DOUBLE_EQ(comparison.ratioMin, 0.1);
    EXPECT_DOUBLE_EQ(comparison.ratioMax, 1.0);
}

TEST(ComparisonTest, TakesTheFastestPeerOfEachRole) {
    const Report report = sampleReport();
    const Comparison* documented =
        find(report.comparisons, "sluice/SpscRing", "best peer as documented");
    ASSERT_NE(documented, nullptr);
    EXPECT_EQ(documented->baseline, "boost/spsc_queue");
    EXPECT_DOUBLE_EQ(documented->ratio, 0.25);
    const Comparison* paced = find(report.comparisons, "sluice/SpscRing", "best paced peer");
    ASSERT_NE(paced, nullptr);
    EXPECT_EQ(paced->baseline, "boost/spsc_queue/paced");
    EXPECT_DOUBLE_EQ(paced->ratio, 1.0);
}

TEST(ComparisonTest, ComparesPeersToo) {
    const Report report = sampleReport();
    const Comparison* peer = find(report.comparisons, "other/queue", "best peer as documented");
    ASSERT_NE(peer, nullptr);
    EXPECT_DOUBLE_EQ(peer->ratio, 2.5);
}

TEST(ComparisonTest, LeavesInvalidResultsOut) {
    Report report = sampleReport();
    report.results[1] = invalidResult("boost/spsc_queue");
    const std::vector<Comparison> comparisons = compareWithPeers(report.results, report.subjects);
    EXPECT_EQ(find(comparisons, "boost/spsc_queue", "best paced peer"), nullptr);
    EXPECT_EQ(find(comparisons, "sluice/SpscRing", "best peer as documented")->baseline,
              "other/queue");
}

TEST(ComparisonTest, SaysNothingWithoutAPeer) {
    const std::vector<Subject> subjects = {subjectNamed("sluice/SpscRing", true, Pacing::harvest)};
    EXPECT_TRUE(compareWithPeers({resultOf("sluice/SpscRing", {1, 2})}, subjects).empty());
}

TEST(ComparisonTest, ComparesWithANamedBaseline) {
    const Report report = sampleReport();
    const auto comparisons = compareWith(report.results, "other/queue", "slow one");
    ASSERT_EQ(comparisons.size(), report.results.size() - 1);
    EXPECT_DOUBLE_EQ(find(comparisons, "sluice/SpscRing", "slow one")->ratio, 0.1);
    EXPECT_TRUE(compareWith(report.results, "no/such", "slow one").empty());
    EXPECT_TRUE(compareWith({invalidResult("a"), resultOf("b", {1})}, "a", "slow one").empty());
}

Comparison ratioOf(const std::string& role) {
    Comparison comparison;
    comparison.scenario = "s";
    comparison.subject = "ours";
    comparison.baseline = "theirs";
    comparison.role = role;
    comparison.ratio = 0.3;
    comparison.interval = {0.28, 0.3};
    return comparison;
}

TEST(ComparisonTest, JudgesTheTargetsItCan) {
    const std::vector<Comparison> comparisons = {ratioOf("role")};
    const std::vector<Target> targets = {{"s", "ours", "theirs", 0.3},
                                         {"s", "ours", "theirs", 0.29},
                                         {"s", "ours", "others", 1},
                                         {"t", "ours", "theirs", 1}};
    const std::vector<Verdict> verdicts = judge(targets, {}, comparisons);
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_TRUE(verdicts[0].isMet());
    EXPECT_FALSE(verdicts[1].isMet());
    EXPECT_FALSE(verdicts[1].isMissed()) << "the interval holds it";
    EXPECT_DOUBLE_EQ(verdicts[1].reached, 0.3);
}

TEST(ComparisonTest, MeetsNoTargetWithARatioThatIsNotSure) {
    Comparison comparison = ratioOf("role");
    comparison.interval = {0.28, 0.31};
    EXPECT_FALSE(judge({{"s", "ours", "theirs", 0.3}}, {}, {comparison})[0].isMet());
    comparison.interval = Interval{};
    EXPECT_FALSE(judge({{"s", "ours", "theirs", 0.3}}, {}, {comparison})[0].isMet());
}

TEST(ComparisonTest, JudgesATargetOnceWhateverRolesItsBaselineHas) {
    const std::vector<Comparison> comparisons = {ratioOf("role"), ratioOf("other")};
    EXPECT_EQ(judge({{"s", "ours", "theirs", 0.3}}, {}, comparisons).size(), 1U);
}

TEST(ComparisonTest, JudgesAFigureByItsMedianWhereThereIsNoBaseline) {
    const std::vector<Result> results = {resultOf("ours", {3, 4, 4, 4, 4, 5}),
                                         invalidResult("broken")};
    const std::vector<Target> targets = {{"spsc-64B", "ours", "", 5},
                                         {"spsc-64B", "ours", "", 3},
                                         {"spsc-64B", "broken", "", 5},
                                         {"other", "ours", "", 5}};
    const std::vector<Verdict> verdicts = judge(targets, results, {});
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_DOUBLE_EQ(verdicts[0].reached, 4);
    EXPECT_TRUE(verdicts[0].isMet());
    EXPECT_FALSE(verdicts[1].isMet());
    EXPECT_EQ(verdicts[0].figure, "median");
}

TEST(ComparisonTest, JudgesLatencyUnderLoadByTheP99OfItsRounds) {
    Result result = resultOf("ours", {400, 400, 400, 400, 400, 400});
    result.scenario.kind = Kind::loadedLatency;
    result.series.roundP99 = {4000, 4100, 4200, 4300, 4400, 90000};
    const auto isMet = [&](double atMost) {
        return judge({{result.scenario.name, "ours", "", atMost}}, {result}, {})[0].isMet();
    };
    EXPECT_FALSE(isMet(5000)) << "the interval of six rounds is all of them";
    result.series.roundP99.back() = 4500;
    EXPECT_TRUE(isMet(5000));
    EXPECT_FALSE(isMet(4300));
    const Verdict verdict = judge({{result.scenario.name, "ours", "", 5000}}, {result}, {})[0];
    EXPECT_DOUBLE_EQ(verdict.reached, 4250);
    EXPECT_EQ(verdict.figure, "p99");
}

}  // namespace
}  // namespace sluice::bench
