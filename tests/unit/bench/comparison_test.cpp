#include "harness/comparison.hpp"

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

TEST(ComparisonTest, JudgesTheTargetsItCan) {
    const std::vector<Comparison> comparisons = {{"s", "ours", "theirs", "role", 0.3, 0.2, 0.4}};
    const std::vector<Target> targets = {{"s", "ours", "theirs", 0.3},
                                         {"s", "ours", "theirs", 0.29},
                                         {"s", "ours", "others", 1},
                                         {"t", "ours", "theirs", 1}};
    const std::vector<Verdict> verdicts = judge(targets, {}, comparisons);
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_TRUE(verdicts[0].isMet);
    EXPECT_FALSE(verdicts[1].isMet);
    EXPECT_DOUBLE_EQ(verdicts[1].reached, 0.3);
}

TEST(ComparisonTest, JudgesATargetOnceWhateverRolesItsBaselineHas) {
    const std::vector<Comparison> comparisons = {{"s", "ours", "theirs", "role", 0.3, 0.2, 0.4},
                                                 {"s", "ours", "theirs", "other", 0.3, 0.2, 0.4}};
    EXPECT_EQ(judge({{"s", "ours", "theirs", 0.3}}, {}, comparisons).size(), 1U);
}

TEST(ComparisonTest, JudgesAFigureByItsMedianWhereThereIsNoBaseline) {
    const std::vector<Result> results = {resultOf("ours", {3, 4, 8}), invalidResult("broken")};
    const std::vector<Target> targets = {{"spsc-64B", "ours", "", 5},
                                         {"spsc-64B", "ours", "", 3},
                                         {"spsc-64B", "broken", "", 5},
                                         {"other", "ours", "", 5}};
    const std::vector<Verdict> verdicts = judge(targets, results, {});
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_DOUBLE_EQ(verdicts[0].reached, 4);
    EXPECT_TRUE(verdicts[0].isMet);
    EXPECT_FALSE(verdicts[1].isMet);
}

}  // namespace
}  // namespace sluice::bench
