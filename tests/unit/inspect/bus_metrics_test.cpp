#include <sluice/inspect/bus_metrics.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <type_traits>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view oneType[] = {"Sample"};
constexpr std::string_view twoTypes[] = {"Sample", "Alarm"};

static_assert(
    !std::is_constructible_v<BusMetrics, const char*, BusStatistics<1>, decltype(oneType)&>,
    "accounts that go away at once");
static_assert(
    !std::is_constructible_v<BusMetrics, const char*, BusStatistics<2>&, decltype(oneType)&>,
    "a name for each type");

TEST(BusMetricsTest, ShowsWhatItRefersTo) {
    BusStatistics<2> statistics{};
    statistics.counts[1][2].published = 5;
    statistics.times[0].max = 3ns;
    statistics.highWater = 7;
    const BusMetrics metrics("vehicle", statistics, twoTypes);
    statistics.counts[1][2].published = 6;
    EXPECT_EQ(metrics.bus(), "vehicle");
    EXPECT_EQ(metrics.typeCount(), 2U);
    EXPECT_EQ(metrics.type(0), "Sample");
    EXPECT_EQ(metrics.type(1), "Alarm");
    EXPECT_EQ(metrics.counts(1, Priority::high).published, 6U);
    EXPECT_EQ(metrics.counts(0, Priority::high).published, 0U);
    EXPECT_EQ(metrics.times(Priority::low).max, 3ns);
    EXPECT_EQ(metrics.times(Priority::high).max, 0ns);
    EXPECT_EQ(metrics.highWater(), 7U);
}

}  // namespace
}  // namespace sluice
