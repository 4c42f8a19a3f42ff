// Subjects that are bad on purpose: each is caught, and the report names its fault. Those that
// lose, double, reorder or change a message in a round are in round_test.cpp.

#include "faulty_queue.hpp"
#include "harness/run/idle_latency.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/run/raw_enqueue.hpp"
#include "harness/run/throughput.hpp"
#include "harness/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::bench {
namespace {

template <Fault TheFault>
Round throughput(const RoundPlan& plan) {
    return onAThread(
        [&] { return throughputRound<LockedQueue<TheFault>, TestMessage, Unpaced>(plan); });
}

template <Fault TheFault>
Round rawEnqueue(const RoundPlan& plan) {
    return onAThread([&] { return rawEnqueueRound<LockedQueue<TheFault>, TestMessage>(plan); });
}

template <Fault TheFault>
Round overflow(const RoundPlan& plan) {
    return onAThread([&] { return overflowRound<LockedQueue<TheFault>, TestMessage>(plan); });
}

RoundPlan enqueuePlan(std::uint64_t batch) {
    RoundPlan plan = smallPlan(1);
    plan.batch = batch;
    return plan;
}

TEST(BadSubjectTest, ThatRefusesForEverIsGivenUp) {
    const Round round = throughput<Fault::refuses>(smallPlan(1));
    EXPECT_EQ(round.error, "accepted = planned: 100 is not 1050");
    EXPECT_GT(round.counts.rejected, 0U);
}

// BR-5: a message that a policy drops is neither accepted nor rejected.
TEST(BadSubjectTest, ThatDropsIsCountedApart) {
    const Round round = throughput<Fault::drops>(smallPlan(1));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.dropped, 1U);
    EXPECT_EQ(round.counts.attempted, round.counts.accepted + round.counts.rejected + 1);
}

TEST(BadSubjectTest, ThatIgnoresThePayloadIsCaughtByItsSum) {
    const std::string error = throughput<Fault::ignoresPayload>(smallPlan(1)).error;
    EXPECT_EQ(error.rfind("received checksum = sent checksum", 0), 0U) << error;
}

// BR-6: only accepted messages are throughput. Nine of ten pushes fail here, and none of them makes
// the figure smaller than it is for a queue that has room.
TEST(BadSubjectTest, ThatIsFullGetsNothingForRefusals) {
    const Round round = overflow<Fault::none>(enqueuePlan(160));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.attempted, round.counts.planned);
    EXPECT_EQ(round.counts.accepted * 10, round.counts.attempted);
    EXPECT_EQ(round.counts.rejected, round.counts.attempted - round.counts.accepted);
    EXPECT_EQ(round.counts.queued, round.counts.accepted);
    EXPECT_EQ(round.counts.delivered, round.counts.accepted);
    EXPECT_DOUBLE_EQ(round.ns, round.timedNs / double(round.timedMessages));
    // The run-in's batch is in the counts but not in the time.
    EXPECT_EQ(round.timedMessages, round.counts.accepted - 16);
}

// BR-7: raw enqueue has room for everything, or is refused.
TEST(BadSubjectTest, MayNotOverflowInRawEnqueue) {
    EXPECT_EQ(rawEnqueue<Fault::none>(enqueuePlan(17)).error,
              "raw enqueue of 17 messages into room for 16: refusals would count as throughput");
    const Round round = rawEnqueue<Fault::none>(enqueuePlan(16));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.rejected, 0U);
    EXPECT_EQ(round.clockReads, 2 * (1000 / 16));
}

TEST(BadSubjectTest, ThatLosesInRawEnqueueIsCaught) {
    EXPECT_EQ(rawEnqueue<Fault::loses>(enqueuePlan(16)).error,
              "delivered = accepted: 1007 is not 1008");
}

TEST(BadSubjectTest, ThatDoublesInRawEnqueueIsCaught) {
    EXPECT_EQ(rawEnqueue<Fault::doubles>(enqueuePlan(16)).error,
              "delivered = accepted: 1008 is not 1007");
}

RoundPlan stallPlan() {
    RoundPlan plan = openLoopPlan();
    plan.probeStride = 1;
    plan.timeoutNs = double(stallTime) / 2;
    plan.stallNs = 60e9;
    return plan;
}

// A stall of 10 ms delays the 10000 messages that were due meanwhile. Latency that counts from the
// moment of sending sees one slow message; latency that counts from the planned time sees them all.
TEST(BadSubjectTest, ThatStallsShowsInTheOpenLoop) {
    const RoundPlan plan = stallPlan();
    const Round round = onAThread([&] {
        return loadedLatencyRound<LockedQueue<Fault::stalls>, TestMessage, Unpaced, FakeClock>(
            plan);
    });
    EXPECT_EQ(round.error, "");
    const Stats stats = summarize(round.samples);
    EXPECT_GT(stats.p999, 0.9 * double(stallTime));
    EXPECT_GT(round.timedOut, 1000U);
    EXPECT_GT(round.lateSends, 1000U);
}

TEST(BadSubjectTest, ThatStallsHidesInTheClosedLoop) {
    RoundPlan plan = stallPlan();
    plan.messages = 2000;
    plan.restNs = 0;
    const Round round = onAThread([&] {
        return idleLatencyRound<LockedQueue<Fault::stalls>, TestMessage, Unpaced, FakeClock>(plan);
    });
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(std::count_if(round.samples.begin(), round.samples.end(),
                            [](double sample) { return sample >= double(stallTime); }),
              1);
    EXPECT_LT(summarize(round.samples).p999, double(stallTime));
}

// A clock that stands still would make everything infinitely fast.
TEST(BadClockTest, ThatStandsStillIsNamed) {
    Round round;
    round.time(7, 7, 100);
    EXPECT_EQ(round.error, "the clock stood still during the round");
}

TEST(BadClockTest, ThatMovesIsGood) {
    Round round;
    round.time(7, 107, 100);
    EXPECT_EQ(round.error, "");
    EXPECT_DOUBLE_EQ(round.ns, 1);
    EXPECT_EQ(round.clockReads, 2U);
}

}  // namespace
}  // namespace sluice::bench
