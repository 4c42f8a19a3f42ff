#include "harness/run/log_lines.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace sluice::bench {
namespace {

std::string lineOf(std::uint64_t number, const std::string& time = "03:01:03.000001") {
    return "[2026-11-22 " + time + "] [bench] [info] Hello logger: msg number " +
           std::to_string(number);
}

Counts countsOf(const LogLines& lines) {
    Counts counts;
    lines.enter(counts);
    return counts;
}

TEST(LogLinesTest, CountsRecordsOfAllThreads) {
    LogLines lines(2);
    for (const std::uint64_t number :
         {recordNumber(0, 0), recordNumber(1, 0), recordNumber(1, 1), recordNumber(0, 1)}) {
        lines.take(lineOf(number));
    }
    const Counts counts = countsOf(lines);
    EXPECT_EQ(lines.strange(), "");
    EXPECT_EQ(counts.delivered, 4U);
    EXPECT_EQ(counts.receivedSum, 2 * mostRecordsOfAThread + 2);
    EXPECT_EQ(counts.disorder, 0U);
    EXPECT_EQ(counts.backInTime, 0U);
}

TEST(LogLinesTest, NoticesWhatIsMissingDoubledOrOvertaken) {
    LogLines lines(1);
    for (const std::uint64_t number : {0U, 1U, 1U, 3U, 2U}) {
        lines.take(lineOf(number));
    }
    EXPECT_EQ(countsOf(lines).disorder, 3U);
}

TEST(LogLinesTest, NoticesLinesThatGoBackInTime) {
    LogLines lines(1);
    lines.take(lineOf(0, "03:01:03.000001"));
    lines.take(lineOf(1, "03:01:03.000003"));
    lines.take(lineOf(2, "03:01:03.000002"));
    lines.take(lineOf(3, "03:01:03.000002"));
    EXPECT_EQ(countsOf(lines).backInTime, 1U);
}

TEST(LogLinesTest, AnythingElseIsStrange) {
    for (const std::string& text :
         {std::string("[2026] Hello logger: msg number 1"), lineOf(1) + "x", std::string(),
          lineOf(recordNumber(1, 0)), lineOf(1).substr(1), lineOf(1).substr(0, 60)}) {
        LogLines lines(1);
        lines.take(text);
        lines.take("another one");
        EXPECT_EQ(countsOf(lines).delivered, 0U) << text;
        EXPECT_EQ(lines.strange(), text.empty() ? "another one" : text);
    }
}

TEST(LogFileTest, IsReadFromTheDiskAndRemoved) {
    std::string path;
    {
        const LogFile file;
        path = file.path();
        std::ofstream(path) << lineOf(0) << '\n' << lineOf(1) << '\n' << "half a li";
        Counts counts;
        EXPECT_EQ(file.read(1, counts), "a line that is no record: half a li");
        EXPECT_EQ(counts.delivered, 2U);
    }
    EXPECT_FALSE(std::ifstream(path).is_open());
}

TEST(LogFileTest, AnEmptyFileHasNoRecords) {
    Counts counts;
    EXPECT_EQ(LogFile().read(1, counts), "");
    EXPECT_EQ(counts.delivered, 0U);
}

}  // namespace
}  // namespace sluice::bench
