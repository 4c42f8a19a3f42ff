// What the program shows.

#include "headers.hpp"
#include "hostwatch/display.hpp"
#include "hostwatch/table.hpp"
#include "hostwatch/terminal.hpp"
#include "hostwatch/units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point now{1000s};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File makeFile() {
    return File(std::tmpfile(), std::fclose);
}

std::string textOf(const File& file) {
    std::fflush(file.get());
    std::rewind(file.get());
    std::string text;
    for (int c = 0; (c = std::fgetc(file.get())) != EOF;) {
        text += static_cast<char>(c);
    }
    return text;
}

class DisplayTest : public ::testing::Test {
protected:
    View view(Clock::duration elapsed) const {
        return {*figures_, *accounts_, statistics_, *deliveries_, now, elapsed, 10, false};
    }

    std::unique_ptr<Figures> figures_ = std::make_unique<Figures>();
    std::unique_ptr<Accounts> accounts_ = std::make_unique<Accounts>();
    std::unique_ptr<Deliveries> deliveries_ = std::make_unique<Deliveries>();
    Statistics statistics_{};
    File out_ = makeFile();
    File problems_ = makeFile();
};

TEST_F(DisplayTest, IsPlainLinesWhereThereIsNoTerminal) {
    const auto display = makeDisplay(out_.get(), problems_.get());
    EXPECT_EQ(display->period(), 1s);
    display->show(view(1s));
    display->show(view(2s));
    EXPECT_EQ(textOf(out_), summaryLine(view(1s)) + '\n' + summaryLine(view(2s)) + '\n');
    EXPECT_EQ(textOf(problems_), "");
}

TEST_F(DisplayTest, LinesNameEachBrokenFileOnce) {
    LineDisplay display(out_.get(), problems_.get());
    (*accounts_)[1].reading.countFaulty("/proc/meminfo: gone");
    display.show(view(1s));
    (*accounts_)[1].reading.countFaulty("/proc/meminfo: gone");
    (*accounts_)[2].reading.countFaulty("/proc/diskstats: odd");
    display.show(view(2s));
    display.show(view(3s));
    EXPECT_EQ(textOf(problems_), "hostwatch: /proc/meminfo: gone; going on\n"
                                 "hostwatch: /proc/diskstats: odd; going on\n");
}

TEST_F(DisplayTest, TableFillsTheTerminal) {
    {
        TableDisplay display(out_.get());
        EXPECT_LT(display.period(), 1s);
        display.show(view(1s));
    }
    const std::string text = textOf(out_);
    EXPECT_NE(text.find("all cores"), std::string::npos);
    EXPECT_NE(text.find("1 of 10 s"), std::string::npos);
}

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

/// A stream into memory in the place of a terminal.
class Screen {
public:
    Screen() : file_(::open_memstream(&text_, &size_)) {}
    ~Screen() {
        std::fclose(file_);
        std::free(text_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    std::FILE* file() const { return file_; }

    /// The text that was written since the last call.
    std::string takeText() {
        std::fflush(file_);
        const std::string all(text_, size_);
        std::string fresh = all.substr(taken_);
        taken_ = all.size();
        return fresh;
    }

private:
    char* text_ = nullptr;
    std::size_t size_ = 0;
    std::size_t taken_ = 0;
    std::FILE* file_;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
        ++count;
    }
    return count;
}

constexpr Terminal::Size size{80, 24};

TEST(Terminal, HidesTheCursorAndGivesItBack) {
    Screen screen;
    {
        const Terminal terminal(screen.file());
        EXPECT_NE(screen.takeText().find("\x1b[?25l"), std::string::npos);
    }
    const std::string end = screen.takeText();
    EXPECT_NE(end.find("\x1b[?25h"), std::string::npos);
    EXPECT_NE(end.find("\x1b[?7h"), std::string::npos);
}

TEST(Terminal, DrawsTheNextFrameOverTheOneBefore) {
    Screen screen;
    Terminal terminal(screen.file());
    screen.takeText();
    terminal.draw({{"one"}, {"two"}, {"three"}}, size);
    const std::string first = screen.takeText();
    EXPECT_EQ(first.find("\x1b[3A"), std::string::npos);
    EXPECT_EQ(occurrences(first, "\r\n"), 3U);
    terminal.draw({{"four"}}, size);
    const std::string second = screen.takeText();
    EXPECT_EQ(second.find("\x1b[3A"), 0U);
    EXPECT_NE(second.find("\x1b[J"), std::string::npos) << "the longer frame must go";
    terminal.draw({{"five"}}, size);
    EXPECT_EQ(screen.takeText().find("\x1b[1A"), 0U);
}

TEST(Terminal, CutsToTheSizeThereIs) {
    Screen screen;
    Terminal terminal(screen.file());
    screen.takeText();
    terminal.draw({{"abcdefgh"}, {"title678", Line::Style::title}, {"third"}, {"fourth"}}, {6, 3});
    const std::string frame = screen.takeText();
    EXPECT_NE(frame.find("abcdef"), std::string::npos);
    EXPECT_EQ(frame.find('g'), std::string::npos);
    EXPECT_NE(frame.find("title6"), std::string::npos);
    EXPECT_EQ(frame.find("title67"), std::string::npos);
    EXPECT_EQ(frame.find("third"), std::string::npos) << "the cursor needs the last row";
}

TEST(Terminal, StartsOnAClearScreenAfterAChangeOfSize) {
    Screen screen;
    Terminal terminal(screen.file());
    terminal.draw({{"one"}}, size);
    screen.takeText();
    terminal.draw({{"one"}}, {60, 24});
    EXPECT_EQ(screen.takeText().find("\x1b[H\x1b[2J"), 0U);
    terminal.draw({{"one"}}, {60, 24});
    EXPECT_EQ(screen.takeText().find("\x1b[1A"), 0U);
}

TEST(Terminal, PutsTheStyleAroundTheText) {
    Screen screen;
    Terminal terminal(screen.file());
    screen.takeText();
    terminal.draw({{"cpu all", Line::Style::plain, 3}, {"warn", Line::Style::warning}}, size);
    const std::string frame = screen.takeText();
    EXPECT_NE(frame.find("\x1b[1mcpu\x1b[0m all"), std::string::npos);
    EXPECT_NE(frame.find("\x1b[33mwarn\x1b[0m"), std::string::npos);
}

TEST(Terminal, IsNotUsableWhenItIsNone) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    ASSERT_NE(file, nullptr);
    EXPECT_FALSE(Terminal::isUsable(file.get()));
}

TEST(Terminal, TakesARowOfItsOwnOnly) {
    Screen screen;
    Terminal terminal(screen.file());
    terminal.draw({{"a"}, {"b"}}, {1, 1});
    EXPECT_EQ(occurrences(screen.takeText(), "\r\n"), 0U);
}

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

TEST(Units, Delays) {
    EXPECT_EQ(formatDelay(0ns), "0 ns");
    EXPECT_EQ(formatDelay(999ns), "999 ns");
    EXPECT_EQ(formatDelay(12345ns), "12.3 us");
    EXPECT_EQ(formatDelay(1230us), "1.23 ms");
    EXPECT_EQ(formatDelay(2500ms), "2.50 s");
    EXPECT_EQ(formatDelay(1h), "3600 s");
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
