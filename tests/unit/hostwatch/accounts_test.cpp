#include "hostwatch/accounts.hpp"

#include "headers.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

TEST(ReadingAccount, KeepsTheFirstProblem) {
    ReadingAccount account;
    EXPECT_EQ(account.readings().firstProblem, "");
    account.countGood();
    account.countFaulty("first");
    account.countFaulty("second");
    const auto readings = account.readings();
    EXPECT_EQ(readings.total, 3U);
    EXPECT_EQ(readings.faulty, 2U);
    EXPECT_EQ(readings.firstProblem, "first");
}

class DeliveriesTest : public ::testing::Test {
protected:
    static Header publishedAt(Clock::time_point time, Priority priority) {
        return test::headerAt(time, 0, priority);
    }

    std::unique_ptr<Deliveries> deliveries_ = std::make_unique<Deliveries>();
};

TEST_F(DeliveriesTest, CountEachTypeAndPriority) {
    deliveries_->record(DiskSample{}, publishedAt(Clock::now(), Priority::low));
    deliveries_->record(DiskSample{}, publishedAt(Clock::now(), Priority::low));
    deliveries_->record(Alarm{}, publishedAt(Clock::now() - 1h, Priority::high));
    const Tally& counts = deliveries_->counts();
    EXPECT_EQ(counts[MessageTypes::indexOf<DiskSample>][indexOf(Priority::low)], 2U);
    EXPECT_EQ(counts[MessageTypes::indexOf<Alarm>][indexOf(Priority::high)], 1U);
    EXPECT_EQ(counts[MessageTypes::indexOf<Alarm>][indexOf(Priority::low)], 0U);
    EXPECT_EQ(deliveries_->delays(Priority::low).count(), 2U);
    EXPECT_GE(deliveries_->delays(Priority::high).max(), 1h);
}

TEST_F(DeliveriesTest, CountWhatWasHandledSinceAnAlarmWasPublished) {
    const Header alarm = publishedAt(Clock::now() - 1h, Priority::high);
    const auto returned = Clock::now() - 30min;
    deliveries_->record(Alarm{}, alarm, returned);
    EXPECT_EQ(deliveries_->overtaken().most, 0U);
    for (int i = 0; i < 10; ++i) {
        deliveries_->record(CpuSample{}, publishedAt(Clock::now(), Priority::low));
    }
    deliveries_->record(Alarm{}, alarm, Clock::now() + 1h);
    deliveries_->record(Alarm{}, alarm);
    EXPECT_EQ(deliveries_->overtaken().most, 0U) << "all came before, and it is on its way";
    EXPECT_EQ(deliveries_->overtaken().byOneAtMost, 3U);
    deliveries_->record(Alarm{}, alarm, returned);
    EXPECT_EQ(deliveries_->overtaken().most, 10U) << "other alarms do not count";
    EXPECT_EQ(deliveries_->overtaken().byMore, 1U);
}

TEST_F(DeliveriesTest, RememberSoManyHandlings) {
    const Clock::time_point begin = Clock::now() - 1h;
    for (std::size_t i = 0; i < 2 * Deliveries::remembered; ++i) {
        deliveries_->record(CpuSample{}, publishedAt(begin, Priority::low));
    }
    deliveries_->record(Alarm{}, publishedAt(begin, Priority::high), begin);
    EXPECT_EQ(deliveries_->overtaken().most, Deliveries::remembered);
    EXPECT_EQ(deliveries_->overtaken().byMore, 1U);
}

}  // namespace
}  // namespace hostwatch
