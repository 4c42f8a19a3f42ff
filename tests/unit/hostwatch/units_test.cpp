#include "hostwatch/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

TEST(Units, Bytes) {
    EXPECT_EQ(formatBytes(0), "0 B");
    EXPECT_EQ(formatBytes(1023), "1023 B");
    EXPECT_EQ(formatBytes(1024), "1.00 KiB");
    EXPECT_EQ(formatBytes(9.994 * 1024), "9.99 KiB");
    EXPECT_EQ(formatBytes(9.996 * 1024), "10.0 KiB");
    EXPECT_EQ(formatBytes(99.96 * 1024), "100 KiB");
    EXPECT_EQ(formatBytes(226.0 * 1024 * 1024), "226 MiB");
    EXPECT_EQ(formatBytes(23.54 * 1024 * 1024 * 1024), "23.5 GiB");
}

TEST(Units, NoFigureBelowAThousandPebibytesIsWiderThanAColumn) {
    for (double bytes = 1; bytes < std::pow(2.0, 59); bytes *= 1.01) {
        EXPECT_LE(formatRate(bytes).size(), 10U) << bytes;
    }
    EXPECT_LT(formatBytes(static_cast<double>(std::numeric_limits<std::uint64_t>::max())).size(),
              11U);
    EXPECT_FALSE(formatBytes(std::numeric_limits<double>::max()).empty());
}

TEST(Units, Rates) {
    EXPECT_EQ(formatRate(0), "0 B/s");
    EXPECT_EQ(formatRate(1.23 * 1024 * 1024), "1.23 MiB/s");
}

TEST(Units, Percentages) {
    EXPECT_EQ(formatPercent(0), "0.0 %");
    EXPECT_EQ(formatPercent(12.34), "12.3 %");
    EXPECT_EQ(formatPercent(100), "100.0 %");
}

TEST(Units, Delays) {
    EXPECT_EQ(formatDelay(0ns), "0 ns");
    EXPECT_EQ(formatDelay(999ns), "999 ns");
    EXPECT_EQ(formatDelay(12345ns), "12.3 us");
    EXPECT_EQ(formatDelay(1230us), "1.23 ms");
    EXPECT_EQ(formatDelay(2500ms), "2.50 s");
    EXPECT_EQ(formatDelay(1h), "3600 s");
}

TEST(Units, Percentiles) {
    DelayHistogram delays;
    EXPECT_EQ(formatPercentile(delays, 50), "-");
    delays.record(0ns);
    delays.record(12345ns);
    EXPECT_EQ(formatPercentile(delays, 50), "0 ns");
    EXPECT_EQ(formatPercentile(delays, 100), "12.3 us");
}

TEST(Units, Counts) {
    EXPECT_EQ(formatCount(0), "0");
    EXPECT_EQ(formatCount(999), "999");
    EXPECT_EQ(formatCount(1000), "1,000");
    EXPECT_EQ(formatCount(1234567), "1,234,567");
    EXPECT_EQ(formatCount(18446744073709551615U), "18,446,744,073,709,551,615");
}

TEST(Units, CellsHaveTheirWidth) {
    EXPECT_EQ(left("ab", 4), "ab  ");
    EXPECT_EQ(left("abcd", 4), "abcd");
    EXPECT_EQ(left("abcde", 4), "abc~");
    EXPECT_EQ(left("abc", 0), "");
    EXPECT_EQ(right("ab", 4), "  ab");
    EXPECT_EQ(right("abcde", 4), "abcde");
}

TEST(Units, BarsStayWithinTheirWidth) {
    EXPECT_EQ(bar(0, 8), "........");
    EXPECT_EQ(bar(50, 8), "####....");
    EXPECT_EQ(bar(93, 8), "#######.");
    EXPECT_EQ(bar(94, 8), "########");
    EXPECT_EQ(bar(1e9, 8), "########");
    EXPECT_EQ(bar(-5, 8), "........");
}

}  // namespace
}  // namespace hostwatch
