#include "harness/run/sparse_logging.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace sluice::bench {
namespace {

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

struct Losing : Punctual {
    using Punctual::Punctual;
    void drain() {
        arrivals_.pop_back();
        Punctual::drain();
    }
};

RoundPlan plan() {
    RoundPlan plan;
    plan.placement = placeThreads({0, 0}, 1, Spread::apart);
    plan.placement.roaming = allowedCpus();
    plan.runIn = 5;
    plan.messages = 20;
    plan.intervalNs = 1000;
    return plan;
}

TEST(SparseLogging, TheDelayRunsFromTheCallToTheSink) {
    const Round round = sparseDelayRound<Punctual>(plan());
    EXPECT_EQ(round.error, "");
    ASSERT_EQ(round.samples.size(), 20u) << "the run-in is left out";
    for (const double sample : round.samples) {
        EXPECT_GE(sample, double(Punctual::delay));
    }
    EXPECT_GE(round.ns, double(Punctual::delay));
}

TEST(SparseLogging, RecordsThatNeverArriveMakeTheRoundInvalid) {
    EXPECT_NE(sparseDelayRound<Losing>(plan()).error, "");
}

TEST(SparseLogging, ProcessorTimeIsThatOfTheProcessForEachRecord) {
    const double before = cpuTimeSoFarNs();
    const Round round = sparseCpuRound<Punctual>(plan());
    EXPECT_EQ(round.error, "");
    EXPECT_GT(round.ns, 0);
    EXPECT_LE(round.ns * 20, cpuTimeSoFarNs() - before);
}

}  // namespace
}  // namespace sluice::bench
