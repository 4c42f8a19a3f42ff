#include "hostwatch/display.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

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
        return {*figures_, *accounts_, statistics_, *deliveries_, Clock::time_point(1000s),
                elapsed,   10,         false};
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

}  // namespace
}  // namespace hostwatch
