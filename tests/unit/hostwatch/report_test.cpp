#include "hostwatch/report.hpp"

#include "headers.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

class ReportTest : public ::testing::Test {
protected:
    /// As if so many messages had been attempted, of which the bus says that it has accepted and
    /// delivered so many, and which have arrived.
    template <class Message>
    void publish(std::uint64_t attempted, std::uint64_t accepted, std::uint64_t delivered,
                 std::uint64_t arrived) {
        const std::size_t type = MessageTypes::indexOf<Message>;
        const std::size_t priority = indexOf(priorityOf<Message>);
        attempts_[type][priority] += attempted;
        sluice::MessageCounts& counts = statistics_.counts[type][priority];
        counts.published += delivered;
        statistics_.queued[priority] += accepted - delivered;
        counts.full += refused_;
        counts.delivered += delivered;
        for (std::uint64_t i = 0; i < arrived; ++i) {
            const Clock::time_point then = Clock::now() - 10h;
            deliveries_->record(Message{}, test::headerAt(then, 0, priorityOf<Message>), then);
        }
    }

    Outcome outcome(std::uint64_t stillQueued = 0) const {
        return {statistics_, stillQueued, attempts_, *deliveries_, *accounts_, 0};
    }

    bool says(const std::string& text) const {
        return report(outcome()).find(text) != std::string::npos;
    }

    std::uint64_t refused_ = 0;
    Statistics statistics_{};
    Tally attempts_{};
    std::unique_ptr<Deliveries> deliveries_ = std::make_unique<Deliveries>();
    std::unique_ptr<Accounts> accounts_ = std::make_unique<Accounts>();
};

TEST_F(ReportTest, AddsUpWhenNothingHappened) {
    EXPECT_TRUE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("the accounts add up"));
}

TEST_F(ReportTest, AddsUpWithLosses) {
    publish<Alarm>(4000, 4000, 4000, 4000);
    refused_ = 23;
    publish<CpuSample>(123, 100, 100, 100);
    EXPECT_TRUE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("4,123")) << "attempted by all";
    EXPECT_TRUE(says("36000 s")) << "the wait";
    EXPECT_TRUE(says("the accounts add up"));
}

TEST_F(ReportTest, ShowsTheOthersThatWereFirst) {
    publish<Alarm>(1, 1, 1, 1);
    publish<CpuSample>(4, 4, 4, 4);
    publish<Alarm>(2, 2, 2, 2);
    EXPECT_TRUE(says("alarms                        1               2               4\n"));
}

TEST_F(ReportTest, NoticesAnAttemptWithoutAnOutcome) {
    publish<CpuSample>(101, 100, 100, 100);
    EXPECT_FALSE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("DO NOT ADD UP"));
}

TEST_F(ReportTest, NoticesAMessageThatWasLost) {
    publish<CpuSample>(100, 100, 100, 99);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesAMessageThatIsNowhere) {
    publish<CpuSample>(100, 100, 99, 99);
    EXPECT_FALSE(accountsAddUp(outcome()));
    EXPECT_TRUE(accountsAddUp(outcome(1))) << "there it is";
}

TEST_F(ReportTest, NoticesAMessageThatCameTwice) {
    publish<CpuSample>(100, 100, 100, 101);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesErrorsThatCancelOut) {
    publish<CpuSample>(100, 100, 100, 99);
    publish<DiskSample>(100, 100, 100, 101);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesABusThatClaimsToHoldMore) {
    publish<CpuSample>(100, 100, 100, 100);
    EXPECT_FALSE(accountsAddUp(outcome(1)));
}

TEST_F(ReportTest, NamesFilesAndDevicesThatWereLeftOut) {
    (*accounts_)[indexOf(Source::disk)].reading.countFaulty("/proc/diskstats: gone");
    (*accounts_)[indexOf(Source::disk)].reading.countGood();
    EXPECT_TRUE(says("first: /proc/diskstats: gone"));
    EXPECT_FALSE(says("places"));
    Outcome leftOut = outcome();
    leftOut.samplesLeftOut = 1200;
    EXPECT_NE(report(leftOut).find("1,200 samples"), std::string::npos);
}

TEST_F(ReportTest, FitsATerminal) {
    publish<MemorySample>(100, 100, 100, 100);
    statistics_.counts[0][0].published = 900'000'000'000;  // more than a flood of a day
    std::istringstream lines(report(outcome()));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 79U) << line;
    }
}

}  // namespace
}  // namespace hostwatch
