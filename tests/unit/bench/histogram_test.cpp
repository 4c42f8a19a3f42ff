#include "harness/statistics/histogram.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::bench {
namespace {

TEST(HistogramTest, CountsEveryValueInItsBucket) {
    std::mt19937 random(1);
    std::lognormal_distribution<double> times(6, 3);
    std::vector<double> values;
    for (int i = 0; i < 20000; ++i) {
        values.push_back(times(random));
    }
    std::uint64_t counted = 0;
    double end = 0;
    for (const Bucket& bucket : histogramOf(values)) {
        EXPECT_GE(bucket.from, end);
        end = bucket.to;
        // A percentile is read from the middle of its bucket. Its error is below 1 %.
        EXPECT_LE(bucket.to - bucket.from, bucket.from < 64 ? 1 : bucket.from / 64);
        std::uint64_t inside = 0;
        for (const double value : values) {
            inside += value >= bucket.from && value < bucket.to;
        }
        EXPECT_EQ(bucket.count, inside);
        counted += bucket.count;
    }
    EXPECT_EQ(counted, values.size());
}

TEST(HistogramTest, HasBucketsAsWideAsTheirDoubling) {
    const std::vector<Bucket> buckets = histogramOf({0, 63.5, 64, 127.9, 128, 129.5, 1e9});
    const std::vector<double> widths = {1, 1, 1, 1, 2};
    ASSERT_EQ(buckets.size(), 6U);
    for (std::size_t i = 0; i < widths.size(); ++i) {
        EXPECT_EQ(buckets[i].to - buckets[i].from, widths[i]) << i;
    }
    EXPECT_EQ(buckets[4].count, 2U);
}

TEST(HistogramTest, IsEmptyWithoutValues) {
    EXPECT_TRUE(histogramOf({}).empty());
}

}  // namespace
}  // namespace sluice::bench
