#include "unit/bus/bus_doubles.hpp"

#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/metrics_text.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;

std::string textOf(const Inspector& inspector, MetricsFormat format = MetricsFormat::classic) {
    std::string text;
    writeMetrics(
        inspector.snapshot(), [&](std::string_view part) { text += part; }, format);
    return text;
}

/// A bus with one type, with counts that are made up.
struct Made {
    BusStatistics<1> statistics{};
    void operator()(ObjectReadings& out) const { detail::readBus(out, statistics, {"Sample"}); }
};

TEST(BusMetricsTextTest, IsThisText) {
    Made made;
    BusStatistics<1>& statistics = made.statistics;
    std::uint64_t next = 1;
    for (MessageCounts& counts : statistics.counts[0]) {
        counts.published = 100 * next;
        counts.full = 10 * next;
        counts.closed = 0;
        counts.dropped = 2 * next;
        counts.delivered = 89 * next;
        counts.unhandled = 4 * next;
        counts.discarded = 3 * next;
        counts.expired = next;
        counts.failed = 4;
        ++next;
    }
    statistics.queued = {5, 10, 15};
    statistics.times[0] = {7, 1500ms, 1s};
    statistics.times[2] = {90, 42ns, 7us};
    statistics.highWater = 12;
    Inspector inspector;
    const auto watch = inspector.watch("vehicle", made);
    EXPECT_EQ(textOf(inspector),
              R"(# HELP sluice_bus_published_total Messages that have left the bus.
# TYPE sluice_bus_published_total counter
sluice_bus_published_total{object="vehicle",type="Sample",priority="low"} 100
sluice_bus_published_total{object="vehicle",type="Sample",priority="medium"} 200
sluice_bus_published_total{object="vehicle",type="Sample",priority="high"} 300
# HELP sluice_bus_rejected_total Messages that were not accepted.
# TYPE sluice_bus_rejected_total counter
sluice_bus_rejected_total{object="vehicle",type="Sample",priority="low",reason="full"} 10
sluice_bus_rejected_total{object="vehicle",type="Sample",priority="low",reason="closed"} 0
sluice_bus_rejected_total{object="vehicle",type="Sample",priority="medium",reason="full"} 20
sluice_bus_rejected_total{object="vehicle",type="Sample",priority="medium",reason="closed"} 0
sluice_bus_rejected_total{object="vehicle",type="Sample",priority="high",reason="full"} 30
sluice_bus_rejected_total{object="vehicle",type="Sample",priority="high",reason="closed"} 0
# HELP sluice_bus_dropped_total Messages that later ones replaced.
# TYPE sluice_bus_dropped_total counter
sluice_bus_dropped_total{object="vehicle",type="Sample",priority="low"} 2
sluice_bus_dropped_total{object="vehicle",type="Sample",priority="medium"} 4
sluice_bus_dropped_total{object="vehicle",type="Sample",priority="high"} 6
# HELP sluice_bus_delivered_total Accepted messages that a handler took.
# TYPE sluice_bus_delivered_total counter
sluice_bus_delivered_total{object="vehicle",type="Sample",priority="low"} 89
sluice_bus_delivered_total{object="vehicle",type="Sample",priority="medium"} 178
sluice_bus_delivered_total{object="vehicle",type="Sample",priority="high"} 267
# HELP sluice_bus_unhandled_total Messages that no handler took.
# TYPE sluice_bus_unhandled_total counter
sluice_bus_unhandled_total{object="vehicle",type="Sample",priority="low"} 4
sluice_bus_unhandled_total{object="vehicle",type="Sample",priority="medium"} 8
sluice_bus_unhandled_total{object="vehicle",type="Sample",priority="high"} 12
# HELP sluice_bus_discarded_total Accepted messages that were destroyed.
# TYPE sluice_bus_discarded_total counter
sluice_bus_discarded_total{object="vehicle",type="Sample",priority="low"} 3
sluice_bus_discarded_total{object="vehicle",type="Sample",priority="medium"} 6
sluice_bus_discarded_total{object="vehicle",type="Sample",priority="high"} 9
# HELP sluice_bus_expired_total Accepted messages whose time was over.
# TYPE sluice_bus_expired_total counter
sluice_bus_expired_total{object="vehicle",type="Sample",priority="low"} 1
sluice_bus_expired_total{object="vehicle",type="Sample",priority="medium"} 2
sluice_bus_expired_total{object="vehicle",type="Sample",priority="high"} 3
# HELP sluice_bus_handler_failures_total Calls of handlers that threw.
# TYPE sluice_bus_handler_failures_total counter
sluice_bus_handler_failures_total{object="vehicle",type="Sample",priority="low"} 4
sluice_bus_handler_failures_total{object="vehicle",type="Sample",priority="medium"} 4
sluice_bus_handler_failures_total{object="vehicle",type="Sample",priority="high"} 4
# HELP sluice_bus_queued Messages in the bus.
# TYPE sluice_bus_queued gauge
sluice_bus_queued{object="vehicle",priority="low"} 5
sluice_bus_queued{object="vehicle",priority="medium"} 10
sluice_bus_queued{object="vehicle",priority="high"} 15
# HELP sluice_bus_queue_time_seconds_total How long messages were in the bus.
# TYPE sluice_bus_queue_time_seconds_total counter
sluice_bus_queue_time_seconds_total{object="vehicle",priority="low"} 1.500000000
sluice_bus_queue_time_seconds_total{object="vehicle",priority="medium"} 0.000000000
sluice_bus_queue_time_seconds_total{object="vehicle",priority="high"} 0.000000042
# HELP sluice_bus_timed_total Messages whose time in the bus was measured.
# TYPE sluice_bus_timed_total counter
sluice_bus_timed_total{object="vehicle",priority="low"} 7
sluice_bus_timed_total{object="vehicle",priority="medium"} 0
sluice_bus_timed_total{object="vehicle",priority="high"} 90
# HELP sluice_bus_longest_queue_time_seconds The longest that a message was in the bus.
# TYPE sluice_bus_longest_queue_time_seconds gauge
sluice_bus_longest_queue_time_seconds{object="vehicle",priority="low"} 1.000000000
sluice_bus_longest_queue_time_seconds{object="vehicle",priority="medium"} 0.000000000
sluice_bus_longest_queue_time_seconds{object="vehicle",priority="high"} 0.000007000
# HELP sluice_bus_high_water The most messages that were in the bus at once.
# TYPE sluice_bus_high_water gauge
sluice_bus_high_water{object="vehicle"} 12
)");
}

/// The lines of a text that begin so.
std::vector<std::string> linesThatBegin(std::string_view text, std::string_view with) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (line.substr(0, with.size()) == with) {
            lines.emplace_back(line);
        }
        text.remove_prefix(line.size() + 1);
    }
    return lines;
}
using Lines = std::vector<std::string>;

TEST(BusMetricsTextTest, SeveralBusesShareTheFamilies) {
    TestBus<24> bus;
    Inspector inspector;
    const auto one = inspector.watch("one", Made{});
    const auto other = inspector.watch("other", bus);
    const std::string text = textOf(inspector);
    EXPECT_EQ(linesThatBegin(text, "# TYPE sluice_bus_published_total").size(), 1U);
    EXPECT_EQ(linesThatBegin(text, "sluice_bus_published_total{object=\"one\"").size(), 3U);
    EXPECT_EQ(linesThatBegin(text, "sluice_bus_published_total{object=\"other\"").size(), 9U);
    EXPECT_EQ(linesThatBegin(text, "sluice_bus_high_water{"),
              (Lines{"sluice_bus_high_water{object=\"one\"} 0",
                     "sluice_bus_high_water{object=\"other\"} 0"}));
}

TEST(BusMetricsTextTest, LabelsAreEscapedAndUtf8) {
    Inspector inspector;
    const auto watch = inspector.watch("a \"b\" \\ c\nd", Made{});
    const auto other = inspector.watch("\xC3\xA9 \xFF\xC3", Made{});
    EXPECT_EQ(linesThatBegin(textOf(inspector), "sluice_bus_high_water{"),
              (Lines{R"(sluice_bus_high_water{object="a \"b\" \\ c\nd"} 0)",
                     "sluice_bus_high_water{object=\"\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD\"} 0"}));
}

TEST(BusMetricsTextTest, LargestNumbersFit) {
    Made made;
    made.statistics.counts[0][0].published = std::numeric_limits<std::uint64_t>::max();
    made.statistics.times[0].max = std::chrono::nanoseconds::max();
    Inspector inspector;
    const auto watch = inspector.watch("b", made);
    const std::string text = textOf(inspector);
    EXPECT_EQ(linesThatBegin(text, "sluice_bus_published_total{").front(),
              R"(sluice_bus_published_total{object="b",type="Sample",priority="low"} )"
              "18446744073709551615");
    EXPECT_EQ(linesThatBegin(text, "sluice_bus_longest_queue_time_seconds{").front(),
              R"(sluice_bus_longest_queue_time_seconds{object="b",priority="low"} )"
              "9223372036.854775807");
}

// OpenMetrics names a counter's family without `_total`, has units, and marks the end.
TEST(BusMetricsTextTest, OpenMetrics) {
    Inspector inspector;
    const auto watch = inspector.watch("b", Made{});
    const std::string text = textOf(inspector, MetricsFormat::openMetrics);
    EXPECT_EQ(linesThatBegin(text, "# TYPE sluice_bus_published"),
              Lines{"# TYPE sluice_bus_published counter"});
    EXPECT_EQ(linesThatBegin(text, "sluice_bus_published_total{").size(), 3U);
    EXPECT_EQ(linesThatBegin(text, "# UNIT"),
              (Lines{"# UNIT sluice_bus_queue_time_seconds seconds",
                     "# UNIT sluice_bus_longest_queue_time_seconds seconds"}));
    EXPECT_EQ(text.substr(text.size() - 6), "# EOF\n");
}

}  // namespace
}  // namespace sluice
