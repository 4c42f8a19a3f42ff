// Floods and bursts, through queues whose answers are known.

#include "faulty_queue.hpp"
#include "harness/run/burst.hpp"
#include "harness/run/flood.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::bench {
namespace {

/// Has room for everything, and refuses messages that may be lost.
class Selective : public LockedQueue<Fault::none> {
    using Base = LockedQueue<Fault::none>;

public:
    Selective(std::size_t, std::size_t) : Base(1000000, 1) {}

    struct Producer {
        Base::Producer inner;
        Push tryPush(const TestMessage& message, Urgency urgency) {
            return urgency == Urgency::low ? Push::rejected : inner.tryPush(message);
        }
    };
    Producer producer() { return {Base::producer()}; }
};

RoundPlan floodPlan(Urgency urgency) {
    RoundPlan plan = smallPlan(1);
    plan.urgency = urgency;
    plan.handleNs = 300;
    plan.load = 2;
    plan.retried = false;
    plan.ordered = false;
    return plan;
}

Round flood(const RoundPlan& plan) {
    return onAThread([&] { return floodRound<Selective, TestMessage, Unpaced>(plan); });
}

TEST(FloodRoundTest, CountsWhatTheWatchedPriorityLost) {
    const Round round = flood(floodPlan(Urgency::low));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.lost, 600U);
    EXPECT_TRUE(round.samples.empty());
    EXPECT_EQ(round.counts.attempted, 1000U);
    EXPECT_EQ(round.counts.rejected, 600U);
    EXPECT_EQ(round.counts.delivered, 400U);
}

TEST(FloodRoundTest, HasASampleForEachMessageOfTheWatchedPriority) {
    const Round high = flood(floodPlan(Urgency::high));
    EXPECT_EQ(high.error, "");
    EXPECT_EQ(high.lost, 0U);
    EXPECT_EQ(high.samples.size(), 100U);
    EXPECT_EQ(flood(floodPlan(Urgency::medium)).samples.size(), 300U);
}

// All threads are on one CPU: the last message of the flood waits at least for all handlers before
// it.
TEST(FloodRoundTest, ASampleHoldsTheTimeThatTheOthersWereHandled) {
    const RoundPlan plan = floodPlan(Urgency::medium);
    const Round round = flood(plan);
    ASSERT_EQ(round.samples.size(), 300U);
    const double handled = 399 * plan.handleNs;
    const double sentAt = 999 * round.intervalNs;
    EXPECT_GE(round.samples.back(), handled - sentAt);
}

TEST(BurstRoundTest, TimesEachBurstFromItsFirstPushToItsLastDelivery) {
    RoundPlan plan = smallPlan(1);
    plan.batch = 100;
    const Round round =
        onAThread([&] { return burstRound<LockedQueue<Fault::none>, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.delivered, 1050U);
    EXPECT_EQ(round.timedMessages, 1000U);
    EXPECT_EQ(round.clockReads, 20U);
    EXPECT_GT(round.ns, 0);
}

TEST(BurstRoundTest, CatchesALostMessage) {
    RoundPlan plan = smallPlan(1);
    plan.batch = 100;
    // The consumer waits for it until the round is given up.
    const std::string error =
        onAThread([&] {
            return burstRound<LockedQueue<Fault::loses>, TestMessage, Unpaced>(plan);
        }).error;
    EXPECT_EQ(error.rfind("accepted = planned", 0), 0U) << error;
}

}  // namespace
}  // namespace sluice::bench
