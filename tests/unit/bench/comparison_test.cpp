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

}  // namespace
}  // namespace sluice::bench
