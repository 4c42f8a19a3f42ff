#include "harness/report/series_json.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace sluice::bench {
namespace {

Series oneRound(double ns) {
    Series series;
    RoundRecord record;
    record.ns = ns;
    record.timedNs = 100 * ns;
    record.clockReads = 2;
    record.timedMessages = 100;
    record.counts.accepted = ~std::uint64_t{0};
    record.usage.minorFaults = 3;
    record.perf.migrations = 1;
    record.allocations = 7;
    series.records = {record};
    series.roundNs = {ns};
    series.samples = {ns, 2 * ns};
    series.roundP99 = {2 * ns};
    series.counts = record.counts;
    series.timedOut = 4;
    return series;
}

TEST(SeriesJsonTest, BringsASeriesOverUnchanged) {
    Series failed;
    failed.error = "lost one";
    const auto read = readSeries(writeSeries({{"a", oneRound(1.0 / 3)}, {"b", failed}}));
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].subject, "a");
    const Series& series = read[0].series;
    EXPECT_EQ(series.roundNs, std::vector<double>{1.0 / 3});
    EXPECT_EQ(series.samples.size(), 2U);
    EXPECT_EQ(series.roundP99.size(), 1U);
    EXPECT_EQ(series.timedOut, 4U);
    const RoundRecord& record = series.records.at(0);
    EXPECT_EQ(record.counts.accepted, ~std::uint64_t{0});
    EXPECT_EQ(record.timedMessages, 100U);
    EXPECT_EQ(record.usage.minorFaults, 3U);
    EXPECT_EQ(record.perf.migrations, 1.0);
    EXPECT_FALSE(record.perf.cycles.has_value());
    EXPECT_EQ(record.allocations, 7U);
    EXPECT_EQ(read[1].series.error, "lost one");
}

TEST(SeriesJsonTest, RefusesAnythingElse) {
    EXPECT_THROW((void)readSeries(""), std::runtime_error);
    EXPECT_THROW((void)readSeries("[{}]"), std::runtime_error);
}

TEST(SeriesJsonTest, AppendsTheRoundsOfAFurtherProcess) {
    Series all;
    append(all, oneRound(1), 0);
    append(all, oneRound(2), 1);
    EXPECT_EQ(all.roundNs, (std::vector<double>{1, 2}));
    EXPECT_EQ(all.samples, (std::vector<double>{1, 2, 2, 4}));
    EXPECT_EQ(all.timedOut, 8U);
    EXPECT_EQ(all.records.at(1).process, 1U);
    EXPECT_EQ(all.records.at(1).index, 1U);
    Series failed;
    failed.error = "lost one";
    append(all, failed, 2);
    EXPECT_EQ(all.error, "lost one");
}

}  // namespace
}  // namespace sluice::bench
