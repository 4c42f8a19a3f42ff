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

TEST_F(DeliveriesTest, CountWhatWasHandledSinceAMessageWasPublished) {
    const Header first = publishedAt(Clock::now() - 1h, Priority::low);
    deliveries_->record(CpuSample{}, first);
    EXPECT_EQ(deliveries_->overtaken(Priority::low).most, 0U);
    for (int i = 0; i < 10; ++i) {
        deliveries_->record(CpuSample{}, publishedAt(Clock::now() + 1h, Priority::medium));
    }
    EXPECT_EQ(deliveries_->overtaken(Priority::medium).most, 0U) << "all came before it";
    EXPECT_EQ(deliveries_->overtaken(Priority::medium).byOneAtMost, 10U);
    deliveries_->record(CpuSample{}, first);
    EXPECT_EQ(deliveries_->overtaken(Priority::low).most, 11U);
    EXPECT_EQ(deliveries_->overtaken(Priority::low).byOneAtMost, 1U);
}

TEST_F(DeliveriesTest, RememberSoManyHandlings) {
    const Clock::time_point begin = Clock::now() - 1h;
    for (std::size_t i = 0; i < 2 * Deliveries::remembered; ++i) {
        deliveries_->record(CpuSample{}, publishedAt(begin, Priority::low));
    }
    EXPECT_EQ(deliveries_->overtaken(Priority::low).most, Deliveries::remembered);
    EXPECT_EQ(deliveries_->overtaken(Priority::low).byOneAtMost, 2U);
}

}  // namespace
}  // namespace hostwatch
