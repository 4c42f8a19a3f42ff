#include "hostwatch/event_log.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

TEST(EventLogTest, DoesNothingWithoutAFile) {
    EventLog none;
    none.started({});
    none.alarm(Source::disk, {DeviceName("sda"), true});
    none.pressure(sluice::Pressure::normal, sluice::Pressure::full);
    none.cannotRead("a file");
}

TEST(EventLogTest, SaysInOneLineWhyItCannotBeOpened) {
    const auto log = EventLog::open("/dev/null/not-a-folder/file");
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().rfind("--log", 0), 0U) << log.error();
    EXPECT_EQ(log.error().find('\n'), std::string::npos);
}

#if defined(HOSTWATCH_HAS_SPDLOG)

std::vector<std::string> linesOf(const std::string& file) {
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST(EventLogTest, WritesALineForEachEventInOrder) {
    const std::string file = ::testing::TempDir() + "hostwatch_event_log_test";
    {
        auto log = EventLog::open(file);
        ASSERT_TRUE(log) << log.error();
        Options options;
        options.flood = true;
        log->started(options);
        log->alarm(Source::disk, {DeviceName("sda"), true});
        log->alarm(Source::disk, {DeviceName(), false});
        log->pressure(sluice::Pressure::normal, sluice::Pressure::critical);
        log->cannotRead("/proc/stat: no such file");
        const auto deliveries = std::make_unique<Deliveries>();
        const auto accounts = std::make_unique<Accounts>();
        Statistics statistics{};
        log->ended({statistics, 0, {}, *deliveries, *accounts, 0});
        statistics.counts[0][0].published = 1;
        log->ended({statistics, 0, {}, *deliveries, *accounts, 0});
    }
    const std::vector<std::string> expected{
        "started for 10 s, with a flood, reads /proc",
        "alarm on: disk sda",
        "alarm off: disk",
        "pressure critical, was normal",
        "/proc/stat: no such file",
        "low: attempted 0, accepted 0, rejected 0, delivered 0",
        "medium: attempted 0, accepted 0, rejected 0, delivered 0",
        "high: attempted 0, accepted 0, rejected 0, delivered 0",
        "ended, the accounts add up",
        "low: attempted 1, accepted 1, rejected 0, delivered 0",
        "medium: attempted 0, accepted 0, rejected 0, delivered 0",
        "high: attempted 0, accepted 0, rejected 0, delivered 0",
        "ended, THE ACCOUNTS DO NOT ADD UP"};
    const std::vector<std::string> lines = linesOf(file);
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(lines[i].substr(lines[i].find("  ", 44) + 2), expected[i]) << lines[i];
    }
}

#endif

}  // namespace
}  // namespace hostwatch
