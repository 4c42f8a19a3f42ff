#include "hostwatch/accounts.hpp"

#include <gtest/gtest.h>

namespace hostwatch {
namespace {

TEST(Counts, AddUpOnlyWhenBothIdentitiesHold) {
    EXPECT_TRUE((Counts{0, 0, 0, 0}.addUp(0)));
    EXPECT_TRUE((Counts{10, 7, 3, 7}.addUp(0)));
    EXPECT_TRUE((Counts{10, 7, 3, 5}.addUp(2)));
    EXPECT_FALSE((Counts{11, 7, 3, 7}.addUp(0))) << "one attempt has no outcome";
    EXPECT_FALSE((Counts{10, 7, 3, 6}.addUp(0))) << "one message is lost";
    EXPECT_FALSE((Counts{10, 7, 3, 8}.addUp(0))) << "one message came twice";
}

TEST(Counts, Sum) {
    Counts sum{10, 7, 3, 5};
    sum += Counts{1, 1, 0, 1};
    EXPECT_EQ(sum.attempted, 11U);
    EXPECT_EQ(sum.accepted, 8U);
    EXPECT_EQ(sum.rejected, 3U);
    EXPECT_EQ(sum.delivered, 6U);
    EXPECT_EQ(sum.queued(), 2U);
}

TEST(ProducerAccount, CountsEachOutcome) {
    ProducerAccount account;
    for (const bool accepted : {true, false, true}) {
        account.countAttempt();
        account.countOutcome(accepted);
    }
    const Counts counts = account.counts(2);
    EXPECT_EQ(counts.attempted, 3U);
    EXPECT_EQ(counts.accepted, 2U);
    EXPECT_EQ(counts.rejected, 1U);
    EXPECT_TRUE(counts.addUp(0));
}

TEST(ProducerAccount, ShowsAnAttemptWithoutAnOutcome) {
    ProducerAccount account;
    account.countAttempt();
    EXPECT_FALSE(account.counts(0).addUp(0));
}

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

}  // namespace
}  // namespace hostwatch
