#include "hostwatch/table.hpp"

#include "headers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point now{1000s};
constexpr std::size_t unlimited = 1000;

class TableTest : public ::testing::Test {
protected:
    template <class Message>
    void add(const Message& message, Source sender = Source::cpu) {
        figures_->add(message, test::headerAt(now, static_cast<std::uint32_t>(indexOf(sender))));
    }

    void addDisk(const std::string& name, double rate, double busy = 0) {
        add(DiskSample{DeviceName(sluice::truncateToFit, name), rate, rate, busy});
    }

    View view() const {
        return {*figures_, *accounts_, statistics_, *deliveries_, now, 3s, 10, false};
    }
    std::vector<Line> table(std::size_t mostLines = unlimited) const {
        return buildTable(view(), mostLines);
    }

    /// The first line that contains `part`; empty when none does.
    static std::string lineWith(const std::vector<Line>& lines, const std::string& part) {
        const auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
            return line.text.find(part) != std::string::npos;
        });
        return found == lines.end() ? std::string() : found->text;
    }

    std::unique_ptr<Figures> figures_ = std::make_unique<Figures>();
    std::unique_ptr<Accounts> accounts_ = std::make_unique<Accounts>();
    std::unique_ptr<Deliveries> deliveries_ = std::make_unique<Deliveries>();
    Statistics statistics_{};
};

TEST_F(TableTest, HasItsShapeBeforeAnythingIsKnown) {
    const auto lines = table();
    EXPECT_EQ(lines.front().style, Line::Style::title);
    EXPECT_NE(lines.front().text.find("3 of 10 s"), std::string::npos);
    EXPECT_FALSE(lineWith(lines, "all cores").empty());
    EXPECT_FALSE(lineWith(lines, "messages").empty());
    EXPECT_TRUE(lineWith(lines, "disk  ").find("read") == std::string::npos);
}

TEST_F(TableTest, ShowsFiguresWithTheirUnits) {
    add(Aggregate{{}, 50, 70}, Source::cpu);
    add(MemorySample{1 << 30, 512 << 20, 100 << 20, 0, 0});
    addDisk("sda", 1.5 * 1024 * 1024, 25);
    add(NetworkSample{"eth0", 2048, 10});
    const auto lines = table();
    EXPECT_EQ(lineWith(lines, "all cores"),
              "cpu      all cores             50.0 %     50.0 %     50.0 %     50.0 % ####....");
    EXPECT_EQ(lineWith(lines, "used of"),
              "memory   used of 1.00 GiB     512 MiB    512 MiB    512 MiB    512 MiB ####....");
    EXPECT_EQ(lineWith(lines, "sda read"),
              "disk     sda read          1.50 MiB/s 1.50 MiB/s 1.50 MiB/s 1.50 MiB/s ##......");
    EXPECT_NE(lineWith(lines, "eth0 in").find("2.00 KiB/s"), std::string::npos);
    EXPECT_NE(lineWith(lines, "eth0 out").find("10 B/s"), std::string::npos);
    EXPECT_TRUE(lineWith(lines, "swap").empty()) << "there is none";
    add(MemorySample{1 << 30, 512 << 20, 100 << 20, 1 << 20, 1 << 19});
    EXPECT_NE(lineWith(table(), "swap").find("512 KiB"), std::string::npos);
}

TEST_F(TableTest, IsNeverWiderThanItsWidth) {
    add(Aggregate{{}, 100, 100}, Source::cpu);
    add(CpuSample{65535, 100});
    add(MemorySample{~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL});
    addDisk(std::string(31, 'd'), 1023.4 * 1024 * 1024, 100);
    add(NetworkSample{DeviceName(sluice::truncateToFit, std::string(31, 'n')), 999, 0.001});
    Account& account = accounts_->front();
    account.reading.countFaulty(std::string(500, 'p'));
    for (const Source source : allSources) {
        add(Alarm{DeviceName(sluice::truncateToFit, std::string(31, 'd')), true}, source);
    }
    deliveries_->record(CpuSample{}, test::headerAt(Clock::now() - 24h, 0));
    statistics_.counts[0][0].published = 999'999'999'999;  // more than a flood of a day
    for (const Line& line : table()) {
        EXPECT_LE(line.text.size(), tableWidth) << line.text;
    }
}

TEST_F(TableTest, CutsALongNameAndKeepsWhatIsMeasured) {
    addDisk("averylongdevicename", 1);
    EXPECT_NE(lineWith(table(), " averylong~ read  "), "");
    EXPECT_NE(lineWith(table(), " averylong~ write "), "");
}

TEST_F(TableTest, LeavesOutTheIdlestDevicesWhenRoomIsShort) {
    addDisk("sda", 1);
    addDisk("sdb", 50);
    addDisk("sdc", 100);
    add(MemorySample{1, 1, 1, 0, 0});
    const std::size_t linesForTwo = 15;
    const auto lines = table(linesForTwo);
    EXPECT_EQ(lines.size(), linesForTwo);
    EXPECT_TRUE(lineWith(lines, "sda").empty());
    EXPECT_FALSE(lineWith(lines, "sdb read").empty());
    EXPECT_FALSE(lineWith(lines, "sdc write").empty());
    EXPECT_EQ(lineWith(lines, "sdb write").substr(0, 4), " +1 ") << "the usual order is kept";
    EXPECT_TRUE(lineWith(table(), " +").empty()) << "all fit, nothing is left out";
}

TEST_F(TableTest, KeepsToTheLinesThereAre) {
    for (int i = 0; i < 70; ++i) {
        addDisk("sd" + std::to_string(i), i);
        add(CpuSample{i, 1});
    }
    for (std::size_t lines = 0; lines < 60; ++lines) {
        EXPECT_LE(table(lines).size(), lines);
    }
}

TEST_F(TableTest, SeparatesTheSectionsWhenThereIsRoom) {
    const auto blanks = [](const std::vector<Line>& lines) {
        return std::count_if(lines.begin(), lines.end(),
                             [](const Line& line) { return line.text.empty(); });
    };
    const auto airy = table();
    EXPECT_EQ(blanks(airy), 3) << "sections without a line need no separation";
    addDisk("sda", 1);
    EXPECT_EQ(blanks(table()), 4);
    EXPECT_EQ(blanks(table(airy.size())), 1);
}

TEST_F(TableTest, ShowsTheAccounts) {
    statistics_.counts[MessageTypes::indexOf<DiskSample>][indexOf(Priority::low)].published = 617;
    statistics_.counts[MessageTypes::indexOf<DiskSample>][indexOf(Priority::low)].full = 617;
    statistics_.counts[MessageTypes::indexOf<CpuSample>][indexOf(Priority::low)].delivered = 616;
    EXPECT_EQ(lineWith(table(), "1,234"),
              "low              1,234          617          617          616        -        -");
    deliveries_->record(Alarm{}, test::headerAt(Clock::now() - 5h, 0, Priority::high));
    EXPECT_NE(lineWith(table(), "high").find("  18000 s"), std::string::npos);
}

TEST_F(TableTest, ShowsTheAlarmsThatAreOn) {
    EXPECT_EQ(lineWith(table(), "alarms"), "alarms   none");
    add(Alarm{"sda", true}, Source::disk);
    add(Alarm{{}, true}, Source::cpu);
    const auto lines = table();
    EXPECT_EQ(lineWith(lines, "alarms"), "alarms   cpu, disk sda");
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const Line& line) { return line.style == Line::Style::warning; }),
              1);
}

TEST_F(TableTest, NamesFilesThatFail) {
    Account& disk = (*accounts_)[indexOf(Source::disk)];
    disk.reading.countFaulty("/proc/diskstats: gone");
    disk.reading.countFaulty("/proc/diskstats: gone");
    const auto lines = table();
    EXPECT_EQ(lines.back().text, "failed 2 times: /proc/diskstats: gone");
    EXPECT_EQ(lines.back().style, Line::Style::warning);
}

TEST_F(TableTest, SummaryShowsTheBusiestDevicesAndTheAlarms) {
    add(Aggregate{{}, 12.34, 50}, Source::cpu);
    add(Aggregate{{}, 22.1, 22.1}, Source::memory);
    add(Aggregate{"sdb", 40, 97}, Source::disk);
    add(Aggregate{"eth0", 500, 1024}, Source::network);
    statistics_.counts[0][0].full = 1;
    const std::string line = "    3 s | cpu  12.3 % | mem  22.1 % | sdb      97.0 % | "
                             "eth0   1.00 KiB/s | rejected 1";
    EXPECT_EQ(summaryLine(view()), line);
    add(Alarm{"sdb", true}, Source::disk);
    EXPECT_EQ(summaryLine(view()), line + " | ALARM disk sdb");
}

TEST_F(TableTest, SummaryWorksWithoutAnything) {
    EXPECT_EQ(summaryLine(view()), "    3 s | cpu       - | mem       - | rejected 0");
}

}  // namespace
}  // namespace hostwatch
