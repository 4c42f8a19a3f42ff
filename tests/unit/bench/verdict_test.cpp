// Differences are found, and only those that exist. The rounds are made up, so the answer is known.

#include "harness/report/comparison.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace sluice::bench {
namespace {

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

TEST(VerdictTest, FindsATenthLessTime) {
    EXPECT_GE(countOf("faster", 0.9), trials * 9 / 10);
    EXPECT_EQ(countOf("slower", 0.9), 0U);
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

TEST(NoiseFloorTest, DecidesWithTheInterval) {
    const std::vector<double> one(6, 1.0);
    std::vector<Comparison> comparisons = {
        compareRounds(resultOf("a", std::vector<double>(6, 1.2)), resultOf("b", one), "role")};
    EXPECT_EQ(comparisons[0].verdict, "slower");
    NoiseFloor noise;
    noise.floor = 1.3;
    complete(comparisons, &noise, {});
    EXPECT_EQ(comparisons[0].verdict, "undecided");
    EXPECT_EQ(comparisons[0].noiseFloor, 1.3);
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

// BR-2: figures of different kinds are not set against each other.
TEST(ComparisonTest, RefusesMixedKinds) {
    Result idle = resultOf("a", {1, 2});
    idle.scenario.kind = Kind::idleLatency;
    EXPECT_THROW((void)compareRounds(idle, resultOf("b", {1, 2}), "role"), std::invalid_argument);
    Result other = resultOf("a", {1, 2});
    other.scenario.name = "other";
    EXPECT_THROW((void)compareRounds(other, resultOf("b", {1, 2}), "role"), std::invalid_argument);
}

// BR-8: the overflow demonstration is in no comparison.
TEST(ComparisonTest, LeavesKindsOutThatAreNotRanked) {
    Report report = sampleReport();
    for (Result& result : report.results) {
        result.scenario.kind = Kind::overflow;
    }
    EXPECT_TRUE(compareWithPeers(report.results, report.subjects).empty());
}

// BR-1: promises that differ between two subjects stand beside their ratio.
TEST(ComparisonTest, TellsInWhichFeaturesTheTwoDiffer) {
    Report report = sampleReport();
    EXPECT_TRUE(
        featureDifferences(report.subjects[0].features, report.subjects[1].features).empty());
    report.subjects[1].features.order = "none";
    report.subjects[1].features.allocates = true;
    complete(report.comparisons, nullptr, report.subjects);
    const std::vector<std::string> expected = {"order: all producers / none",
                                               "allocates: no / yes"};
    EXPECT_EQ(report.comparisons[0].featureDifferences, expected);
}

TEST(ComparisonTest, TellsWhoseObjectsSeveralThreadsMayUse) {
    Features safe;
    safe.topology = "any thread";
    Features single;
    single.topology = "one thread";
    const std::vector<std::string> expected = {"topology: any thread / one thread",
                                               "thread-safe: yes / no"};
    EXPECT_EQ(featureDifferences(safe, single), expected);
    EXPECT_EQ(isThreadSafe(Features{}), std::nullopt);
}

}  // namespace
}  // namespace sluice::bench
