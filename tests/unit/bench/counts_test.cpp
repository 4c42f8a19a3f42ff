#include "harness/run/counts.hpp"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

Counts balanced() {
    Counts counts;
    counts.planned = 100;
    counts.attempted = 130;
    counts.accepted = 100;
    counts.rejected = 30;
    counts.delivered = 100;
    counts.sentSum = 4950;
    counts.receivedSum = 4950;
    return counts;
}

TEST(CountsTest, HaveNoComplaintWhenTheyBalance) {
    EXPECT_EQ(complaint(balanced(), true), "");
}

TEST(CountsTest, NameEachViolatedIdentity) {
    Counts counts = balanced();
    counts.attempted = 131;
    EXPECT_EQ(complaint(counts, true), "attempted = accepted + rejected + dropped: 131 is not 130");

    counts = balanced();
    counts.planned = 101;
    EXPECT_EQ(complaint(counts, true), "accepted = planned: 100 is not 101");

    counts = balanced();
    counts.delivered = 99;
    EXPECT_EQ(complaint(counts, true), "delivered = accepted: 99 is not 100");

    counts = balanced();
    counts.receivedSum = 4949;
    EXPECT_EQ(complaint(counts, true), "received checksum = sent checksum: 4949 is not 4950");
}

TEST(CountsTest, ComplainAboutDisorderOnlyWhereOrderIsPromised) {
    Counts counts = balanced();
    counts.disorder = 2;
    EXPECT_EQ(complaint(counts, true), "2 messages broke their producer's order");
    EXPECT_EQ(complaint(counts, false), "");
}

TEST(CountsTest, AddUpFieldByField) {
    Counts sum = balanced();
    sum += balanced();
    EXPECT_EQ(sum.planned, 200U);
    EXPECT_EQ(sum.attempted, 260U);
    EXPECT_EQ(sum.accepted, 200U);
    EXPECT_EQ(sum.rejected, 60U);
    EXPECT_EQ(sum.delivered, 200U);
    EXPECT_EQ(complaint(sum, true), "");
}

}  // namespace
}  // namespace sluice::bench
