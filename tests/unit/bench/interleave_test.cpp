#include "harness/run/interleave.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::bench {
namespace {

Round roundOf(double ns) {
    Round round;
    round.ns = ns;
    round.counts.delivered = 1;
    return round;
}

// BX-3: the rows of a balanced Latin square, whose first one is that of the first measured round.
TEST(InterleaveTest, ChangesTheOrderFromRoundToRound) {
    std::string order;
    std::vector<std::function<Round()>> entries;
    for (const char name : {'a', 'b', 'c'}) {
        entries.emplace_back([&order, name] {
            order += order.size() % 4 == 3 ? std::string(" ") + name : std::string(1, name);
            return roundOf(1);
        });
    }
    (void)interleave(entries, {1, 6}, [](std::size_t, std::size_t) {});
    EXPECT_EQ(order, "abc abc bca cab cba acb bac");
}

TEST(InterleaveTest, GoesOnWithTheRowThatItIsGiven) {
    const auto entry = [] { return roundOf(1); };
    Repetition repetition{2, 1};
    repetition.firstRow = 1;
    const std::vector<Series> series =
        interleave({entry, entry, entry}, repetition, [](std::size_t, std::size_t) {});
    EXPECT_EQ(series[0].records.at(0).place, 2U);
    EXPECT_EQ(series[1].records.at(0).place, 0U);
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

// BR-16: each round keeps its turn, and the activity of the system meanwhile.
TEST(InterleaveTest, KeepsARecordOfEachMeasuredRound) {
    const auto entry = [] {
        Round round = roundOf(7);
        round.time(0, 70, 10, 2);
        return round;
    };
    const std::vector<Series> series =
        interleave({entry, entry, entry}, {1, 3}, [](std::size_t, std::size_t) {});
    for (std::size_t round = 0; round < 3; ++round) {
        const RoundRecord& record = series[0].records.at(round);
        EXPECT_EQ(record.index, round);
        EXPECT_EQ(record.place, (3 - round) % 3);
        EXPECT_EQ(record.ns, 7);
        EXPECT_EQ(record.timedNs, 70);
        EXPECT_EQ(record.clockReads, 2U);
        EXPECT_EQ(record.counts.delivered, 1U);
    }
}

// BR-18: rounds are added while one is unreliable, for all of them, up to a limit.
TEST(InterleaveTest, AddsRoundsWhileASeriesIsUnreliable) {
    int runs = 0;
    const auto wild = [&runs] { return roundOf(++runs % 2 == 0 ? 1 : 100); };
    const auto calm = [] { return roundOf(1); };
    const auto none = [](std::size_t, std::size_t) {};
    EXPECT_EQ(interleave({calm, wild}, {0, 4, 3}, none)[0].roundNs.size(), 7U);
    EXPECT_EQ(interleave({calm, calm}, {0, 4, 3}, none)[0].roundNs.size(), 4U);
    int settling = 0;
    const auto settles = [&settling] { return roundOf(++settling == 1 ? 3 : 1); };
    EXPECT_EQ(interleave({settles, calm}, {0, 4, 50}, none)[0].roundNs.size(), 41U);
}

TEST(InterleaveTest, KeepsToItsTimeButMeasuresARound) {
    Repetition repetition{1, 10};
    repetition.longestNs = 1e-3;
    EXPECT_EQ(
        interleave({[] { return roundOf(1); }}, repetition, [](std::size_t, std::size_t) {})[0]
            .roundNs.size(),
        1U);
}

TEST(InterleaveTest, PoolsLatencySamplesAndKeepsEachRoundsP99) {
    const auto latency = [] {
        Round round = roundOf(10);
        round.samples = {10, 20};
        round.timedOut = 1;
        round.intervalNs = 30;
        round.behindSchedule = true;
        return round;
    };
    const std::vector<Series> series =
        interleave({latency}, {1, 2}, [](std::size_t, std::size_t) {});
    EXPECT_EQ(series[0].samples, (std::vector<double>{10, 20, 10, 20}));
    EXPECT_EQ(series[0].roundP99, (std::vector<double>{20, 20}));
    EXPECT_EQ(series[0].roundIntervalNs, (std::vector<double>{30, 30}));
    EXPECT_EQ(series[0].timedOut, 2U);
    EXPECT_EQ(series[0].roundsBehindSchedule, 2U);
}

TEST(InterleaveTest, TellsItsProgress) {
    std::size_t calls = 0;
    (void)interleave({[] { return roundOf(1); }, [] { return roundOf(1); }}, {1, 2},
                     [&](std::size_t done, std::size_t all) {
                         EXPECT_EQ(done, calls++);
                         EXPECT_EQ(all, 6U);
                     });
    EXPECT_EQ(calls, 6U);
}

}  // namespace
}  // namespace sluice::bench
