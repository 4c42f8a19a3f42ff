#include "harness/run/logging.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::bench
