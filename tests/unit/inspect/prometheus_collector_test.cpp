#include "unit/bus/bus_doubles.hpp"

#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/metrics_text.hpp>
#include <sluice/inspect/prometheus_collector.hpp>

#include "support/testing.hpp"
#include <prometheus/text_serializer.h>

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// A bus with one type, with counts that are made up.
struct Made {
    BusStatistics<1> statistics;
    void operator()(ObjectReadings& out) const { detail::readBus(out, statistics, {"Sample"}); }
};

std::string textOf(const prometheus::Collectable& collector) {
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, collector.Collect());
    return text.str();
}

/// Name and labels as in a text, and the value.
using Samples = std::vector<std::pair<std::string, double>>;

Samples samplesOf(const std::string& text) {
    Samples samples;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t space = line.rfind(' ');
        if (line.front() != '#') {
            samples.emplace_back(line.substr(0, space), std::stod(line.substr(space + 1)));
        }
    }
    return samples;
}

double valueOf(const Samples& samples, const std::string& name) {
    for (const auto& [each, value] : samples) {
        if (each == name) {
            return value;
        }
    }
    ADD_FAILURE() << "no sample " << name;
    return -1;
}

/// The families of a text, sorted.
std::vector<std::string> familiesOf(const std::string& text) {
    std::vector<std::string> families;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("# TYPE ", 0) == 0 || line.rfind("# HELP ", 0) == 0) {
            families.push_back(line);
        }
    }
    std::sort(families.begin(), families.end());
    return families;
}

/// Accounts in which no two numbers are the same by chance.
BusStatistics<1> unequalNumbers(std::uint64_t next) {
    BusStatistics<1> made{};
    for (MessageCounts& counts : made.counts[0]) {
        for (std::uint64_t MessageCounts::*member :
             {&MessageCounts::full, &MessageCounts::closed, &MessageCounts::dropped,
              &MessageCounts::delivered, &MessageCounts::unhandled, &MessageCounts::discarded,
              &MessageCounts::expired, &MessageCounts::failed}) {
            counts.*member = next++;
        }
        counts.published = 100 * next++;
    }
    for (std::uint64_t& queued : made.queued) {
        queued = next++;
    }
    for (QueueTimes& times : made.times) {
        times = {next, next * 42ns, next * 7ns};
        ++next;
    }
    made.highWater = next;
    return made;
}

TEST(PrometheusCollectorTest, CollectsWhatTheTextHas) {
    Inspector inspector;
    const auto one = inspector.watch("one", Made{unequalNumbers(1000)});
    const auto other = inspector.watch("the \"other\" \xFF", Made{unequalNumbers(2000)});
    const PrometheusCollector collector(inspector);

    std::string written;
    writeMetrics(inspector.snapshot(), [&](std::string_view part) { written += part; });

    const std::string collected = textOf(collector);
    EXPECT_EQ(familiesOf(collected), familiesOf(written));
    const Samples samples = samplesOf(collected);
    EXPECT_EQ(samples, samplesOf(written));
    EXPECT_EQ(valueOf(samples, R"(sluice_bus_high_water{bus="one"})"),
              unequalNumbers(1000).highWater);
    EXPECT_EQ(valueOf(samples, "sluice_bus_high_water{bus=\"the \\\"other\\\" \xEF\xBF\xBD\"}"),
              unequalNumbers(2000).highWater);
}

TEST(PrometheusCollectorTest, EachScrapeReadsTheBus) {
    TestBus<24> bus;
    Inspector inspector;
    const auto watch = inspector.watch("b", bus);
    const PrometheusCollector collector(inspector);
    const std::string queued = R"(sluice_bus_queued{bus="b",priority="low"})";
    (void)bus.publish(Sample{}, Priority::low);
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), queued), 1);
    bus.process();
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), queued), 0);
}

}  // namespace
}  // namespace sluice
