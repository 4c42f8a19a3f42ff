// Rounds of logs, and the lines they write.

#include "harness/run/log_lines.hpp"
#include "harness/run/logging.hpp"
#include "harness/run/sparse_logging.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

namespace sluice::bench {
namespace {

/// Keeps numbers, and writes them at drain(): as they came or otherwise.
class Notebook {
public:
    static constexpr bool inTimeOrder = true;

    Notebook(const std::string& path, std::size_t) : file_(path) {}

    void log(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        numbers_.push_back(number);
    }

    void drain() {
        for (const std::uint64_t number : numbers_) {
            write(number);
        }
        numbers_.clear();
        file_.flush();
    }

protected:
    void write(std::uint64_t number, char second = '3') {
        file_ << "[2026-11-22 03:01:0" << second << ".012345] Hello logger: msg number " << number
              << '\n';
    }

    std::mutex mutex_;
    std::vector<std::uint64_t> numbers_;
    std::ofstream file_;
};

struct Forgetful : Notebook {
    using Notebook::Notebook;
    void drain() {
        numbers_.pop_back();
        Notebook::drain();
    }
};

struct Repeating : Notebook {
    using Notebook::Notebook;
    void drain() {
        numbers_.push_back(numbers_.back());
        Notebook::drain();
    }
};

struct Swapping : Notebook {
    using Notebook::Notebook;
    void drain() {
        std::swap(numbers_.front(), numbers_.back());
        Notebook::drain();
    }
};

template <bool Promises>
struct Unpunctual : Notebook {
    static constexpr bool inTimeOrder = Promises;
    using Notebook::Notebook;
    void drain() {
        for (const std::uint64_t number : numbers_) {
            write(number, number % 2 == 0 ? '3' : '2');
        }
        numbers_.clear();
        Notebook::drain();
    }
};

RoundPlan planOf(std::size_t threads) {
    RoundPlan plan;
    plan.placement = placeThreads({0, 0}, threads, Spread::apart);
    plan.placement.roaming = allowedCpus();
    plan.capacity = 10;
    plan.runIn = 100;
    plan.messages = 1000;
    return plan;
}

TEST(LoggingTest, CountsARoundToTheLastLine) {
    const Round round = logRound<Notebook>(planOf(3));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.delivered, 1100U);
    EXPECT_EQ(round.counts.accepted, 1100U);
    EXPECT_EQ(round.counts.receivedSum, round.counts.sentSum);
    EXPECT_EQ(round.timedMessages, 1000U);
    EXPECT_GT(round.ns, 0);
}

TEST(LoggingTest, LostDoubledAndReorderedRecordsMakeARoundInvalid) {
    EXPECT_NE(logRound<Forgetful>(planOf(1)).error.find("delivered = accepted"), std::string::npos);
    EXPECT_NE(logRound<Repeating>(planOf(1)).error.find("delivered = accepted"), std::string::npos);
    EXPECT_NE(logRound<Swapping>(planOf(1)).error.find("order"), std::string::npos);
}

TEST(LoggingTest, LinesThatGoBackInTimeBreakAPromiseOnlyWhereThereIsOne) {
    const Round broken = logRound<Unpunctual<true>>(planOf(1));
    EXPECT_NE(broken.error.find("lines are out of time order"), std::string::npos) << broken.error;
    const Round honest = logRound<Unpunctual<false>>(planOf(1));
    EXPECT_EQ(honest.error, "");
    EXPECT_GT(honest.counts.backInTime, 0U);
}

TEST(LoggingTest, TimesEachCallAndLeavesItsIntervalBetween) {
    RoundPlan plan = planOf(1);
    plan.messages = 50;
    plan.intervalNs = 1000;
    const Nanoseconds start = now();
    const Round round = logCallRound<Notebook>(plan);
    EXPECT_GE(double(now() - start), 49 * plan.intervalNs);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 50U);
    for (const double sample : round.samples) {
        EXPECT_GE(sample, 0);
    }
}

TEST(LoggingTest, UnderLoadTheIntervalComesFromTheLogItself) {
    RoundPlan plan = planOf(1);
    plan.messages = 50;
    plan.load = 0.5;
    const Round round = loadedLogCallRound<Notebook>(plan);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 50U);
    EXPECT_EQ(loadedLogCallRound<Forgetful>(plan).samples.size(), 0U);
}

TEST(LoggingTest, IdleThreadsAreMeasuredInAChild) {
    RoundPlan plan = planOf(1);
    plan.capacity = 5;
    const Round round = idleThreadsRound<Notebook>(plan);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.delivered, 6U);
    EXPECT_GT(round.ns, 0);
}

/// Writes each record at once; it arrives a millisecond after its call.
class Punctual {
public:
    static constexpr bool inTimeOrder = true;
    static constexpr Nanoseconds delay = 1000000;

    Punctual(const std::string& path, std::size_t) : file_(path) {}

    void log(std::uint64_t number) {
        arrivals_.push_back(now() + delay);
        file_ << "[2026-11-22 03:01:03.012345] Hello logger: msg number " << number << '\n';
    }
    void drain() { file_.flush(); }
    const std::vector<Nanoseconds>& arrivals() const { return arrivals_; }

protected:
    std::vector<Nanoseconds> arrivals_;

private:
    std::ofstream file_;
};

struct Late : Punctual {
    using Punctual::Punctual;
    void drain() {
        arrivals_.pop_back();
        Punctual::drain();
    }
};

RoundPlan sparsePlan() {
    RoundPlan plan;
    plan.placement = placeThreads({0, 0}, 1, Spread::apart);
    plan.placement.roaming = allowedCpus();
    plan.runIn = 5;
    plan.messages = 20;
    plan.intervalNs = 1000;
    return plan;
}

TEST(SparseLogging, TheDelayRunsFromTheCallToTheSink) {
    const Round round = sparseDelayRound<Punctual>(sparsePlan());
    EXPECT_EQ(round.error, "");
    ASSERT_EQ(round.samples.size(), 20u) << "the run-in is left out";
    for (const double sample : round.samples) {
        EXPECT_GE(sample, double(Punctual::delay));
    }
    EXPECT_GE(round.ns, double(Punctual::delay));
}

TEST(SparseLogging, RecordsThatNeverArriveMakeTheRoundInvalid) {
    EXPECT_NE(sparseDelayRound<Late>(sparsePlan()).error, "");
}

TEST(SparseLogging, ProcessorTimeIsThatOfTheProcessForEachRecord) {
    const double before = cpuTimeSoFarNs();
    const Round round = sparseCpuRound<Punctual>(sparsePlan());
    EXPECT_EQ(round.error, "");
    EXPECT_GT(round.ns, 0);
    EXPECT_LE(round.ns * 20, cpuTimeSoFarNs() - before);
}

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
