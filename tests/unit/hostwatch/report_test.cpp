#include "hostwatch/report.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

class ReportTest : public ::testing::Test {
protected:
    /// Publishes `accepted` + `rejected` messages; `delivered` of them arrive after 1 ms.
    void publish(Source source, int accepted, int rejected, int delivered) {
        Account& account = (*accounts_)[indexOf(source)];
        for (int i = 0; i < accepted + rejected; ++i) {
            account.producer.countAttempt();
            account.producer.countOutcome(i < accepted);
        }
        for (int i = 0; i < delivered; ++i) {
            ++account.delivered;
            account.delays.record(1ms);
        }
    }

    Outcome outcome(std::uint64_t stillQueued = 0) const { return {*accounts_, stillQueued, 0}; }

    bool says(const std::string& text) const {
        return report(outcome()).find(text) != std::string::npos;
    }

    std::unique_ptr<Accounts> accounts_ = std::make_unique<Accounts>();
};

TEST_F(ReportTest, AddsUpWhenNothingHappened) {
    EXPECT_TRUE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("the accounts add up"));
}

TEST_F(ReportTest, AddsUpWithLosses) {
    publish(Source::cpu, 100, 23, 100);
    publish(Source::network, 4000, 1, 4000);
    EXPECT_TRUE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("4,001")) << "attempted by the network";
    EXPECT_TRUE(says("4,124")) << "attempted by all";
    EXPECT_TRUE(says("1.00 ms"));
    EXPECT_TRUE(says("the accounts add up"));
}

TEST_F(ReportTest, NoticesAMessageThatWasLost) {
    publish(Source::cpu, 100, 0, 99);
    EXPECT_FALSE(accountsAddUp(outcome()));
    EXPECT_FALSE(accountsAddUp(outcome(1))) << "after the drain nothing may still be queued";
    EXPECT_TRUE(says("DO NOT ADD UP"));
}

TEST_F(ReportTest, NoticesAMessageThatCameTwice) {
    publish(Source::cpu, 100, 0, 101);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesErrorsThatCancelOut) {
    publish(Source::cpu, 100, 0, 99);
    publish(Source::disk, 100, 0, 101);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesAQueueThatClaimsToHoldMore) {
    publish(Source::cpu, 100, 0, 100);
    EXPECT_FALSE(accountsAddUp(outcome(1)));
}

TEST_F(ReportTest, NamesFilesAndDevicesThatWereLeftOut) {
    (*accounts_)[indexOf(Source::disk)].reading.countFaulty("/proc/diskstats: gone");
    (*accounts_)[indexOf(Source::disk)].reading.countGood();
    EXPECT_TRUE(says("first: /proc/diskstats: gone"));
    EXPECT_FALSE(says("places"));
    const std::string text = report({*accounts_, 0, 1200});
    EXPECT_NE(text.find("1,200 samples"), std::string::npos);
}

TEST_F(ReportTest, FitsATerminal) {
    publish(Source::cpu, 100, 23, 100);
    std::istringstream lines(report(outcome()));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 79U) << line;
    }
}

}  // namespace
}  // namespace hostwatch
