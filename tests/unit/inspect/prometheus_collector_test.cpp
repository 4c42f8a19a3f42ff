#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/inspect/metrics_text.hpp>
#include <sluice/inspect/prometheus_collector.hpp>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr std::string_view oneType[] = {"Sample"};
constexpr std::string_view testTypes[] = {"Sample", "Alarm", "Counted"};

/// The part of a bus that a collector needs, with accounts that are made up.
struct Accounts {
    [[nodiscard]] BusStatistics<1> statistics() const { return made; }
    BusStatistics<1> made{};
};

template <class Collector, class Bus>
using ResultOfAdd = decltype(std::declval<Collector&>().add("bus", std::declval<Bus>(), oneType));
template <class Bus, class = void>
constexpr bool canAdd = false;
template <class Bus>
constexpr bool canAdd<Bus, std::void_t<ResultOfAdd<PrometheusCollector, Bus>>> = true;
static_assert(canAdd<const Accounts&>);
static_assert(!canAdd<Accounts>, "a bus that goes away at once");

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

TEST(PrometheusCollectorTest, TellsWhatTheTextTells) {
    const Accounts one{unequalNumbers(1000)};
    const Accounts other{unequalNumbers(2000)};
    PrometheusCollector collector;
    ASSERT_TRUE(collector.add("one", one, oneType));
    ASSERT_TRUE(collector.add("the \"other\" \xFF", other, oneType));

    std::string written;
    const BusMetrics shown[] = {{"one", one.made, oneType},
                                {"the \"other\" \xFF", other.made, oneType}};
    writeMetrics(shown, [&](std::string_view part) { written += part; });

    const std::string collected = textOf(collector);
    EXPECT_EQ(familiesOf(collected), familiesOf(written));
    const Samples samples = samplesOf(collected);
    EXPECT_EQ(samples, samplesOf(written));
    EXPECT_EQ(valueOf(samples, R"(sluice_bus_high_water{bus="one"})"), one.made.highWater);
    EXPECT_EQ(valueOf(samples, "sluice_bus_high_water{bus=\"the \\\"other\\\" \xEF\xBF\xBD\"}"),
              other.made.highWater);
}

TEST(PrometheusCollectorTest, EachScrapeReadsTheBus) {
    TestBus<24> bus;
    PrometheusCollector collector;
    ASSERT_TRUE(collector.add("b", bus, testTypes));
    const std::string name = R"(sluice_bus_published_total{bus="b",type="Sample",priority="low"})";
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), name), 0);
    for (int i = 0; i < 7; ++i) {
        (void)bus.publish(Sample{}, Priority::low);
    }
    const std::string queued = R"(sluice_bus_queued{bus="b",priority="low"})";
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), queued), 6);
    bus.process(4);
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), queued), 2);
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), name), 4);
}

TEST(PrometheusCollectorTest, NamesAreUsedOnce) {
    const Accounts one{unequalNumbers(1000)};
    const Accounts other{unequalNumbers(2000)};
    PrometheusCollector collector;
    ASSERT_TRUE(collector.add("b", one, oneType));
    EXPECT_FALSE(collector.add("b", other, oneType));
    const std::string name = R"(sluice_bus_high_water{bus="b"})";
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), name), one.made.highWater);
    EXPECT_TRUE(collector.remove("b"));
    EXPECT_FALSE(collector.remove("b"));
    EXPECT_EQ(samplesOf(textOf(collector)), Samples{});
    ASSERT_TRUE(collector.add("b", other, oneType));
    EXPECT_EQ(valueOf(samplesOf(textOf(collector)), name), other.made.highWater);
}

/// Accounts that notice when they are read after they have gone.
class GoingAccounts {
public:
    explicit GoingAccounts(std::atomic<std::uint64_t>& lateReads) : lateReads_(lateReads) {}

    [[nodiscard]] BusStatistics<1> statistics() const {
        reads_.fetch_add(1);
        std::this_thread::yield();
        lateReads_.fetch_add(hasGone_.load() ? 1 : 0);
        return {};
    }
    void go() { hasGone_.store(true); }
    [[nodiscard]] std::uint64_t reads() const { return reads_.load(); }

private:
    std::atomic<std::uint64_t>& lateReads_;
    mutable std::atomic<std::uint64_t> reads_{0};
    std::atomic<bool> hasGone_{false};
};

// Two threads scrape while buses come and go.
TEST(PrometheusCollectorTest, RemovedBusIsReadNoMore) {
    std::atomic<std::uint64_t> lateReads{0};
    std::vector<std::unique_ptr<GoingAccounts>> gone;
    std::atomic<bool> isOver{false};
    PrometheusCollector collector;
    std::atomic<std::size_t> removed{0};
    const Watchdog watchdog(
        [&](std::FILE* out) { std::fprintf(out, "%zu buses came and went\n", removed.load()); });
    Crew crew;
    for (int scraper = 0; scraper < 2; ++scraper) {
        crew.add([&] {
            while (!isOver.load()) {
                (void)collector.Collect();
            }
        });
    }
    crew.start();
    for (std::size_t i = 0; i < scaled(2000); ++i) {
        gone.push_back(std::make_unique<GoingAccounts>(lateReads));
        GoingAccounts& accounts = *gone.back();
        EXPECT_TRUE(collector.add("b", accounts, oneType));
        awaitThat([&] { return accounts.reads() != 0; });
        EXPECT_TRUE(collector.remove("b"));
        accounts.go();
        removed.fetch_add(1);
    }
    isOver.store(true);
    crew.join();
    EXPECT_EQ(lateReads.load(), 0U);
}

}  // namespace
}  // namespace sluice
