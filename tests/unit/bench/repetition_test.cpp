// How often rounds are repeated, in which order, and when they end.

#include "harness/run/interleave.hpp"
#include "harness/run/schedule.hpp"
#include "harness/run/steady_rounds.hpp"

#include "support/testing.hpp"

namespace sluice::bench {
namespace {

Round roundOf(double ns) {
    Round round;
    round.ns = ns;
    round.counts.delivered = 1;
    return round;
}

// The rows of a balanced Latin square, whose first one is that of the first measured round.
TEST(InterleaveTest, ChangesTheOrderFromRoundToRound) {
    std::string order;
    std::vector<std::function<Round()>> entries;
    for (const char name : {'a', 'b', 'c'}) {
        entries.emplace_back([&order, name] {
            order += order.size() % 4 == 3 ? std::string(" ") + name : std::string(1, name);
            return roundOf(1);
        });
    }
    std::size_t calls = 0;
    (void)interleave(entries, {1, 6}, [&calls](std::size_t done, std::size_t all) {
        EXPECT_EQ(done, calls++);
        EXPECT_EQ(all, 21U);
    });
    EXPECT_EQ(order, "abc abc bca cab cba acb bac");
}

TEST(InterleaveTest, DiscardsWarmUps) {
    double next = 0;
    const std::vector<Series> series =
        interleave({[&] { return roundOf(++next); }}, {3, 4}, [](std::size_t, std::size_t) {});
    EXPECT_EQ(series[0].roundNs, (std::vector<double>{4, 5, 6, 7}));
    EXPECT_EQ(series[0].counts.delivered, 4U);
}

TEST(InterleaveTest, ReportsAFailureAndDoesNotRunThatEntryAgain) {
    int failing = 0;
    const auto fails = [&] {
        Round round = roundOf(9);
        round.error = ++failing == 2 ? "lost one" : "";
        return round;
    };
    const std::vector<Series> series =
        interleave({fails, [] { return roundOf(1); }}, {1, 5}, [](std::size_t, std::size_t) {});
    EXPECT_EQ(failing, 2);
    EXPECT_EQ(series[0].error, "lost one");
    EXPECT_TRUE(series[0].roundNs.empty());
    EXPECT_EQ(series[1].error, "");
    EXPECT_EQ(series[1].roundNs.size(), 5U);
}

RoundConditions lines(double before, double after) {
    return {std::min(before, after), std::max(before, after), 0, 0};
}

TEST(SteadyRoundsTest, TheLargestGroupWithOneLineTimeCounts) {
    const std::vector<RoundConditions> rounds = {lines(190, 190), lines(190, 27), lines(27, 26),
                                                 lines(26, 39),   lines(39, 40),  lines(27, 28)};
    EXPECT_EQ(steadyRounds(rounds), (std::vector<bool>{false, false, true, true, false, true}));
    EXPECT_TRUE(steadyRounds({}).empty());
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

using Order = std::vector<std::size_t>;

constexpr std::size_t mostSubjects = 24;

TEST(BalancedOrderTest, GivesEachSubjectEachPlaceOnceInASquare) {
    for (std::size_t subjects = 1; subjects <= mostSubjects; ++subjects) {
        for (const std::size_t square : {0U, 1U, 2U}) {
            std::set<std::pair<std::size_t, std::size_t>> seen;
            for (std::size_t row = 0; row < subjects; ++row) {
                const Order order = balancedOrder(subjects, square * subjects + row);
                EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), subjects);
                for (std::size_t place = 0; place < subjects; ++place) {
                    seen.insert({place, order[place]});
                }
            }
            EXPECT_EQ(seen.size(), subjects * subjects) << subjects << " subjects";
        }
    }
}

TEST(BalancedOrderTest, LetsEachSubjectFollowEachOtherOneEquallyOften) {
    for (std::size_t subjects = 2; subjects <= mostSubjects; ++subjects) {
        const std::size_t times = subjects % 2 == 0 ? 1 : 2;
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> neighbours;
        for (std::size_t row = 0; row < times * subjects; ++row) {
            const Order order = balancedOrder(subjects, row);
            for (std::size_t place = 1; place < subjects; ++place) {
                ++neighbours[{order[place - 1], order[place]}];
            }
        }
        EXPECT_EQ(neighbours.size(), subjects * (subjects - 1)) << subjects << " subjects";
        for (const auto& [pair, count] : neighbours) {
            EXPECT_EQ(count, times) << pair.second << " after " << pair.first << " of " << subjects;
        }
    }
}

}  // namespace
}  // namespace sluice::bench
