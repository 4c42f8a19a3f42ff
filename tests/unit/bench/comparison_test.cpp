// Ratios, verdicts and targets. The rounds are made up, so the answer is known.

#include "harness/report/comparison.hpp"
#include "sample_report.hpp"

#include "support/testing.hpp"
#include <cmath>
#include <random>

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

TEST(ComparisonTest, LeavesInvalidResultsOut) {
    Report report = sampleReport();
    report.results[1] = invalidResult("boost/spsc_queue");
    const std::vector<Comparison> comparisons = compareWithPeers(report.results, report.subjects);
    EXPECT_EQ(find(comparisons, "boost/spsc_queue", "best paced peer"), nullptr);
    EXPECT_EQ(find(comparisons, "sluice/SpscRing", "best peer as documented")->baseline,
              "other/queue");
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

// Rounds as they come from a machine: noise of two percent, now and then one that was disturbed,
// and a drift that all subjects share.
class Machine {
public:
    explicit Machine(unsigned seed) : random_(seed) {}

    Comparison compare(double factor, std::size_t rounds) {
        std::vector<double> subject;
        std::vector<double> baseline;
        for (std::size_t round = 0; round < rounds; ++round) {
            const double drift = 1 + 0.2 * std::sin(double(round));
            subject.push_back(factor * drift * noise());
            baseline.push_back(drift * noise());
        }
        return compareRounds(resultOf("a", subject), resultOf("b", baseline), "role");
    }

private:
    double noise() {
        const double usual = std::exp(std::normal_distribution<double>(0, 0.02)(random_));
        return std::uniform_real_distribution<double>(0, 1)(random_) < 0.05 ? 3 * usual : usual;
    }

    std::mt19937 random_;
};

constexpr unsigned trials = 200;

unsigned countOf(const std::string& verdict, double factor) {
    unsigned count = 0;
    for (unsigned trial = 0; trial < trials; ++trial) {
        count += Machine(trial).compare(factor, 10).verdict == verdict;
    }
    return count;
}

TEST(VerdictTest, RarelyFindsADifferenceThatIsNotThere) {
    EXPECT_LE(countOf("faster", 1) + countOf("slower", 1), trials / 20);
}

TEST(VerdictTest, FindsATenthMoreTime) {
    EXPECT_GE(countOf("slower", 1.1), trials * 9 / 10);
    EXPECT_EQ(countOf("faster", 1.1), 0U);
}

TEST(VerdictTest, IsUndecidedAfterFewRounds) {
    EXPECT_EQ(Machine(1).compare(2, 5).verdict, "undecided");
    EXPECT_EQ(Machine(1).compare(2, 6).verdict, "slower");
}

TEST(VerdictTest, NeedsTheWholeIntervalBeyondOne) {
    EXPECT_EQ(verdictOf({0.8, 0.9}, 1), "faster");
    EXPECT_EQ(verdictOf({1.1, 1.2}, 1), "slower");
    EXPECT_EQ(verdictOf({0.98, 1.02}, 1), "same");
    EXPECT_EQ(verdictOf({0.9, 1.02}, 1), "undecided");
    EXPECT_EQ(verdictOf(Interval{}, 1), "undecided");
}

TEST(VerdictTest, NeedsTheWholeIntervalBeyondTheNoise) {
    EXPECT_EQ(verdictOf({1.1, 1.2}, 1.15), "undecided");
    EXPECT_EQ(verdictOf({1.2, 1.3}, 1.15), "slower");
    EXPECT_EQ(verdictOf({0.8, 0.9}, 1.2), "undecided");
    // A difference within the noise does not make two subjects the same.
    EXPECT_EQ(verdictOf({0.8, 1.2}, 2), "undecided");
}

TEST(NoiseFloorTest, IsTheFartherEndOfTheInterval) {
    const std::vector<double> first = {1, 1, 1, 1, 1, 1};
    const NoiseFloor up =
        noiseFloorOf(resultOf("a", {0.9, 1, 1, 1, 1, 1.25}), resultOf("a", first));
    EXPECT_DOUBLE_EQ(up.floor, 1.25);
    const NoiseFloor down = noiseFloorOf(resultOf("a", {0.5, 1, 1, 1, 1, 1}), resultOf("a", first));
    EXPECT_DOUBLE_EQ(down.floor, 2);
}

TEST(NoiseFloorTest, IsNeededForAVerdictOnTimes) {
    const std::vector<double> one(6, 1.0);
    std::vector<Comparison> comparisons = {
        compareRounds(resultOf("a", std::vector<double>(6, 2.0)), resultOf("b", one), "role")};
    complete(comparisons, nullptr, {});
    EXPECT_EQ(comparisons[0].verdict, "undecided");
    // Memory hardly varies, so no subject runs twice.
    comparisons[0].kind = Kind::residentMemory;
    complete(comparisons, nullptr, {});
    EXPECT_EQ(comparisons[0].verdict, "slower");
}

// Figures of different kinds are not set against each other.
TEST(ComparisonTest, RefusesMixedKinds) {
    Result idle = resultOf("a", {1, 2});
    idle.scenario.kind = Kind::idleLatency;
    EXPECT_THROW((void)compareRounds(idle, resultOf("b", {1, 2}), "role"), std::invalid_argument);
    Result other = resultOf("a", {1, 2});
    other.scenario.name = "other";
    EXPECT_THROW((void)compareRounds(other, resultOf("b", {1, 2}), "role"), std::invalid_argument);
}

// The overflow demonstration is in no comparison.
TEST(ComparisonTest, LeavesKindsOutThatAreNotRanked) {
    Report report = sampleReport();
    for (Result& result : report.results) {
        result.scenario.kind = Kind::overflow;
    }
    EXPECT_TRUE(compareWithPeers(report.results, report.subjects).empty());
}

}  // namespace
}  // namespace sluice::bench
