#include "harness/run/steady_rounds.hpp"

#include "harness/run/interleave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::bench {
namespace {

RoundConditions lines(double before, double after) {
    return {std::min(before, after), std::max(before, after), 0, 0};
}

TEST(SteadyRoundsTest, TheLargestGroupWithOneLineTimeCounts) {
    const std::vector<RoundConditions> rounds = {lines(190, 190), lines(190, 27), lines(27, 26),
                                                 lines(26, 39),   lines(39, 40),  lines(27, 28)};
    EXPECT_EQ(steadyRounds(rounds), (std::vector<bool>{false, false, true, true, false, true}));
    EXPECT_TRUE(steadyRounds({}).empty());
}

TEST(SteadyRoundsTest, RoundsCountIfTheirConditionsAreUnknown) {
    EXPECT_EQ(steadyRounds({{}, {}}), (std::vector<bool>{true, true}));
}

TEST(SteadyRoundsTest, ARoundThatOthersDisturbedDoesNotCount) {
    RoundConditions busy = lines(20, 20);
    busy.others = 0.03;
    RoundConditions stolen = lines(20, 20);
    stolen.stolen = 0.03;
    EXPECT_EQ(steadyRounds({busy, lines(20, 20), stolen}), (std::vector<bool>{false, true, false}));
}

/// One entry whose round has the number of the round as its value, on a machine whose line times
/// are given. The last of them stays.
std::vector<Series> interleaveOn(std::vector<double> lineNs, const Repetition& repetition) {
    std::size_t call = 0;
    double number = 0;
    const auto conditions = [&] {
        const double before = lineNs[std::min(call == 0 ? 0 : call - 1, lineNs.size() - 1)];
        const double after = lineNs[std::min(call++, lineNs.size() - 1)];
        return lines(before, after);
    };
    const auto entry = [&number] {
        Round round;
        round.ns = ++number;
        return round;
    };
    return interleave(
        {entry}, repetition, [](std::size_t, std::size_t) {}, conditions);
}

std::vector<Series> interleaveOn(std::vector<double> lineNs, double untilQuietNs) {
    Repetition repetition{1, 3};
    repetition.untilQuietNs = untilQuietNs;
    return interleaveOn(std::move(lineNs), repetition);
}

constexpr double anHour = 3600e9;

TEST(SteadyRoundsTest, FurtherRoundsReplaceThoseThatWereNotSteady) {
    // Before the warm-up, after it, and after each measured round.
    const std::vector<double> lineNs = {190, 190, 190, 27};
    const Series series = interleaveOn(lineNs, anHour).at(0);
    EXPECT_EQ(series.roundNs, (std::vector<double>{4, 5, 6}));
    EXPECT_EQ(series.records.front().index, 2U);
    EXPECT_EQ(series.discardedRounds, 2U);
}

TEST(SteadyRoundsTest, ASteadyMachineRepeatsNothing) {
    const Series series = interleaveOn({27}, anHour).at(0);
    EXPECT_EQ(series.roundNs, (std::vector<double>{2, 3, 4}));
    EXPECT_EQ(series.discardedRounds, 0U);
}

// The figures 2, 3 and 4 vary by more than 30 %.
TEST(SteadyRoundsTest, FiguresOfASubjectAddNoRound) {
    Repetition repetition{1, 3};
    repetition.extraRounds = 5;
    repetition.untilQuietNs = anHour;
    EXPECT_EQ(interleaveOn({27}, repetition).at(0).roundNs, (std::vector<double>{2, 3, 4}));
}

TEST(SteadyRoundsTest, AllRoundsCountWhenTheTimeIsOver) {
    const std::vector<double> lineNs = {190, 190, 27, 190};
    EXPECT_EQ(interleaveOn(lineNs, 1e-3).at(0).roundNs, (std::vector<double>{2, 3, 4}));
    EXPECT_EQ(interleaveOn(lineNs, 0).at(0).roundNs, (std::vector<double>{2, 3, 4}));
}

}  // namespace
}  // namespace sluice::bench
