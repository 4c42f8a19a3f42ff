// Rounds with queues that are right and with queues that are wrong on purpose: each fault is
// caught.

#include "faulty_queue.hpp"
#include "harness/run/idle_latency.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/run/raw_enqueue.hpp"
#include "harness/run/send_schedule.hpp"
#include "harness/run/throughput.hpp"
#include "harness/statistics/statistics.hpp"

#include "support/testing.hpp"

namespace sluice::bench {
namespace {

template <Fault TheFault>
Round throughput(const RoundPlan& plan) {
    return onAThread(
        [&] { return throughputRound<LockedQueue<TheFault>, TestMessage, Unpaced>(plan); });
}

TEST(ThroughputRoundTest, BalancesForACorrectQueue) {
    for (const std::size_t producers : {1U, 3U}) {
        const Round round = throughput<Fault::none>(smallPlan(producers));
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.counts.planned, 1050U);
        EXPECT_EQ(round.counts.delivered, 1050U);
        EXPECT_EQ(round.counts.attempted, 1050 + round.counts.rejected);
        EXPECT_GT(round.counts.rejected, 0U);
        EXPECT_GT(round.ns, 0);
    }
}

TEST(ThroughputRoundTest, CatchesAMessageThatIsLostDoubledReorderedOrChanged) {
    EXPECT_EQ(throughput<Fault::loses>(smallPlan(1)).error,
              "delivered = accepted: 1049 is not 1050");
    EXPECT_EQ(throughput<Fault::doubles>(smallPlan(1)).error,
              "delivered = accepted: 1051 is not 1050");
    EXPECT_EQ(throughput<Fault::reorders>(smallPlan(1)).error,
              "3 messages broke their producer's order");
    const std::string error = throughput<Fault::corrupts>(smallPlan(1)).error;
    EXPECT_EQ(error.rfind("received checksum = sent checksum", 0), 0U) << error;
}

TEST(ThroughputRoundTest, TreatsAnImpossiblePinAsAnError) {
    RoundPlan plan = smallPlan(1);
    plan.placement.producerCpus[0] = CPU_SETSIZE - 1;
    EXPECT_EQ(throughput<Fault::none>(plan).error, "a producer could not be pinned to its CPU");
    plan = smallPlan(1);
    plan.placement.consumerCpu = CPU_SETSIZE - 1;
    EXPECT_EQ(throughput<Fault::none>(plan).error, "the consumer could not be pinned to its CPU");
}

// One pair of reads of the clock for the whole batch, however many messages it has.
TEST(ThroughputRoundTest, ReadsTheClockTwice) {
    for (const std::uint64_t messages : {100U, 1000U}) {
        RoundPlan plan = smallPlan(1);
        plan.messages = messages;
        const Round round = throughput<Fault::none>(plan);
        EXPECT_EQ(round.clockReads, 2U);
        EXPECT_EQ(round.timedMessages, messages);
        EXPECT_DOUBLE_EQ(round.ns * double(messages), round.timedNs);
    }
}

// A probe that takes too long is counted, and stays among the samples.
TEST(LoadedLatencyRoundTest, CountsLateProbesAndKeepsThem) {
    RoundPlan plan = smallPlan(1);
    plan.intervalNs = 1000;
    plan.timeoutNs = 0;
    const Round round = onAThread(
        [&] { return loadedLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.samples.size(), 17U);
    EXPECT_EQ(round.timedOut, 17U);
}

TEST(IdleLatencyRoundTest, MeasuresEveryMessage) {
    RoundPlan plan = smallPlan(1);
    plan.messages = 20;
    const Round round = onAThread(
        [&] { return idleLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 20U);
    EXPECT_GT(round.ns, 0);
}

// And so is one that never comes.
TEST(IdleLatencyRoundTest, KeepsAMessageThatNeverComesAsASample) {
    RoundPlan plan = smallPlan(1);
    plan.messages = 100;
    plan.timeoutNs = 50e6;
    const Round round = onAThread(
        [&] { return idleLatencyRound<LockedQueue<Fault::loses>, TestMessage, Unpaced>(plan); });
    EXPECT_NE(round.error, "");
    EXPECT_EQ(round.samples.size(), 50U);
    EXPECT_GE(round.timedOut, 1U);
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

// A message that a policy drops is neither accepted nor rejected.
TEST(BadSubjectTest, ThatDropsIsCountedApart) {
    const Round round = throughput<Fault::drops>(smallPlan(1));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.dropped, 1U);
    EXPECT_EQ(round.counts.attempted, round.counts.accepted + round.counts.rejected + 1);
}

// Only accepted messages are throughput. Nine of ten pushes fail here, and none of them makes
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

// Raw enqueue has room for everything, or is refused.
TEST(BadSubjectTest, MayNotOverflowInRawEnqueue) {
    EXPECT_EQ(rawEnqueue<Fault::none>(enqueuePlan(17)).error,
              "raw enqueue of 17 messages into room for 16: refusals would count as throughput");
    const Round round = rawEnqueue<Fault::none>(enqueuePlan(16));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.rejected, 0U);
    EXPECT_EQ(round.clockReads, 2 * (1000 / 16));
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

Round roundWith(ArrivalProcess arrivals) {
    RoundPlan plan = openLoopPlan();
    plan.probeStride = 1000;
    plan.arrivals = arrivals;
    return onAThread([&] {
        return loadedLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced, FakeClock>(plan);
    });
}

// The clock moves 10 ns at each look: gaps that are shorter cannot be kept, and only random ones
// are. Of a mean of 1000 ns one in a hundred is; half of those end before the next look.
TEST(LoadedLatencyRoundTest, SendsAsTheScheduleSays) {
    const Round constant = roundWith(ArrivalProcess::constant);
    const Round random = roundWith(ArrivalProcess::poisson);
    EXPECT_EQ(constant.error, "");
    EXPECT_EQ(random.error, "");
    EXPECT_EQ(random.samples.size(), 20U);
    EXPECT_EQ(constant.lateSends, 0U);
    EXPECT_GT(random.lateSends, 20U);
}

}  // namespace
}  // namespace sluice::bench
