// Runs the kinds of rounds on queues that are right and on queues that are wrong on purpose.

#include "faulty_queue.hpp"
#include "harness/run/idle_latency.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/run/raw_enqueue.hpp"
#include "harness/run/sharing.hpp"
#include "harness/run/throughput.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

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

TEST(ThroughputRoundTest, CatchesALostMessage) {
    EXPECT_EQ(throughput<Fault::loses>(smallPlan(1)).error,
              "delivered = accepted: 1049 is not 1050");
}

TEST(ThroughputRoundTest, CatchesADoubledMessage) {
    EXPECT_EQ(throughput<Fault::doubles>(smallPlan(1)).error,
              "delivered = accepted: 1051 is not 1050");
}

TEST(ThroughputRoundTest, CatchesAReorderedMessage) {
    EXPECT_EQ(throughput<Fault::reorders>(smallPlan(1)).error,
              "3 messages broke their producer's order");
}

TEST(ThroughputRoundTest, ToleratesDisorderWhereNoOrderIsPromised) {
    RoundPlan plan = smallPlan(1);
    plan.ordered = false;
    const Round round = throughput<Fault::reorders>(plan);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.disorder, 3U);
}

TEST(ThroughputRoundTest, CatchesAChangedPayload) {
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

/// Its last message takes its time on the way out.
class Hesitating : public LockedQueue<Fault::none> {
    using Base = LockedQueue<Fault::none>;

public:
    static constexpr Nanoseconds hesitation = 3000000;
    static inline std::uint64_t last = 0;

    using Base::Base;
    struct Consumer {
        Base::Consumer inner;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            return inner.poll([&](const TestMessage& message) {
                const Nanoseconds until = now() + (message.sequence() == last ? hesitation : 0);
                while (now() < until) {
                }
                handler(message);
            });
        }
    };
    Consumer consumer() { return {Base::consumer()}; }
};

// BR-10: a round lasts until the last message was delivered, and not until it was pushed.
TEST(ThroughputRoundTest, EndsWithTheLastDelivery) {
    const RoundPlan plan = smallPlan(1);
    Hesitating::last = plan.runIn + plan.messages - 1;
    const Round round =
        onAThread([&] { return throughputRound<Hesitating, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.error, "");
    EXPECT_GE(round.timedNs, double(Hesitating::hesitation));
}

/// Notes the least alignment of the messages that it is given.
class Aligned : public LockedQueue<Fault::none> {
    using Base = LockedQueue<Fault::none>;

public:
    static inline std::size_t least = 0;

    using Base::Base;
    struct Producer {
        Base::Producer inner;
        Push tryPush(const TestMessage& message) {
            const auto address = reinterpret_cast<std::uintptr_t>(&message);
            least = std::min(least, std::size_t(address & (~address + 1)));
            return inner.tryPush(message);
        }
    };
    Producer producer() { return {Base::producer()}; }
};

// A message that its sender has split between two pages costs several nanoseconds more.
TEST(ThroughputRoundTest, BuildsEachMessageOnOneLine) {
    for (const auto run : {&throughputRound<Aligned, TestMessage, Unpaced>,
                           &rawEnqueueRound<Aligned, TestMessage>}) {
        Aligned::least = 4096;
        RoundPlan plan = smallPlan(1);
        plan.batch = plan.capacity;
        EXPECT_EQ(onAThread([&] { return run(plan); }).error, "");
        EXPECT_GE(Aligned::least, sizeof(TestMessage));
    }
}

// BR-13: one pair of reads of the clock for the whole batch, however many messages it has.
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

// BR-22: no thread of such a round is tied to a CPU, so none that cannot be had is an error.
TEST(ThroughputRoundTest, RunsWithoutPinsWhereThePlacementSaysSo) {
    RoundPlan plan = smallPlan(2);
    plan.placement.roaming = allowedCpus();
    plan.placement.producerCpus[0] = CPU_SETSIZE - 1;
    EXPECT_EQ(throughput<Fault::none>(plan).error, "");
}

TEST(LoadedLatencyRoundTest, MeasuresEveryProbe) {
    RoundPlan plan = smallPlan(1);
    plan.intervalNs = 1000;
    plan.timeoutNs = 3600e9;  // however busy the machine is
    const Round round = onAThread(
        [&] { return loadedLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 17U);
    EXPECT_EQ(round.intervalNs, 1000);
    EXPECT_EQ(round.timedOut, 0U);
}

// BR-19: a probe that takes too long is counted, and stays among the samples.
TEST(LoadedLatencyRoundTest, CountsLateProbesAndKeepsThem) {
    RoundPlan plan = smallPlan(1);
    plan.intervalNs = 1000;
    plan.timeoutNs = 0;
    const Round round = onAThread(
        [&] { return loadedLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.samples.size(), 17U);
    EXPECT_EQ(round.timedOut, 17U);
}

TEST(LoadedLatencyRoundTest, CountsProbesThatNeverCame) {
    RoundPlan plan = smallPlan(1);
    plan.intervalNs = 1000;
    plan.probeStride = 1;
    plan.runIn = 0;
    const Round round = onAThread(
        [&] { return loadedLatencyRound<LockedQueue<Fault::loses>, TestMessage, Unpaced>(plan); });
    EXPECT_NE(round.error, "");
    EXPECT_GE(round.timedOut, 1U);
}

template <Fault TheFault>
Round sharing(const RoundPlan& plan) {
    return sharingRound<LockedQueue<TheFault>, TestMessage, Unpaced>(plan);
}

TEST(SharingRoundTest, BalancesForACorrectQueue) {
    const RoundPlan plan = smallPlan(2);
    const Round round = sharing<Fault::none>(plan);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.planned, plan.messages);
    EXPECT_EQ(round.counts.delivered, plan.messages);
    EXPECT_GT(round.ns, 0);
}

TEST(SharingRoundTest, CatchesMessagesThatAreLostDoubledOrChanged) {
    EXPECT_NE(sharing<Fault::loses>(smallPlan(2)).error, "");
    EXPECT_NE(sharing<Fault::doubles>(smallPlan(2)).error, "");
    EXPECT_NE(sharing<Fault::corrupts>(smallPlan(2)).error, "");
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

// BR-19: and so is one that never comes.
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

}  // namespace
}  // namespace sluice::bench
