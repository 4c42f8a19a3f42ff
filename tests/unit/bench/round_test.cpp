// Runs the three kinds of rounds on queues that are right and on queues that are wrong on purpose.

#include "harness/idle_latency.hpp"
#include "harness/loaded_latency.hpp"
#include "harness/throughput.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace sluice::bench {
namespace {

using TestMessage = Message<64>;

struct Unpaced {
    void harvested(std::size_t) noexcept {}
    void full() noexcept {}
};

enum class Fault { none, loses, doubles, reorders, corrupts };

// A plain queue under a lock that does one thing wrong, once, to message number 100.
template <Fault TheFault>
class LockedQueue {
public:
    LockedQueue(std::size_t capacity, std::size_t) : capacity_(capacity) {}

    struct Producer {
        LockedQueue& queue;
        bool tryPush(const TestMessage& message) { return queue.push(message); }
    };

    struct Consumer {
        LockedQueue& queue;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const std::optional<TestMessage> message = queue.pop();
            if (message) {
                handler(*message);
            }
            return message ? 1 : 0;
        }
    };

    Producer producer() { return {*this}; }
    Consumer consumer() { return {*this}; }

private:
    bool push(TestMessage message) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (messages_.size() >= capacity_) {
            return false;
        }
        const bool now = ++pushes_ == 100;
        if (TheFault == Fault::corrupts && now) {
            message.words.back() ^= 1;
        }
        if (TheFault != Fault::loses || !now) {
            messages_.push_back(message);
        }
        if (TheFault == Fault::doubles && now) {
            messages_.push_back(message);
        }
        if (TheFault == Fault::reorders && pushes_ == 101 && messages_.size() >= 2) {
            std::swap(messages_[messages_.size() - 1], messages_[messages_.size() - 2]);
            swapped_ = true;
        }
        return true;
    }

    std::optional<TestMessage> pop() {
        const std::lock_guard<std::mutex> lock(mutex_);
        // Two messages must be there to be swapped, so number 100 waits for the next one.
        const bool held = TheFault == Fault::reorders && pushes_ == 100 && !swapped_;
        if (messages_.empty() || held) {
            return std::nullopt;
        }
        const TestMessage message = messages_.front();
        messages_.pop_front();
        return message;
    }

    const std::size_t capacity_;
    std::mutex mutex_;
    std::deque<TestMessage> messages_;
    std::uint64_t pushes_ = 0;
    bool swapped_ = false;
};

// Every thread on one CPU: then the tests also run where there is only one.
RoundPlan smallPlan(std::size_t producers) {
    const int cpu = allowedCpus().front();
    RoundPlan plan;
    plan.placement.consumerCpu = cpu;
    plan.placement.producerCpus.assign(producers, cpu);
    plan.placement.oversubscribed = true;
    plan.capacity = 16;
    plan.runIn = 50;
    plan.messages = 1000;
    plan.stallNs = 100e6;
    return plan;
}

// Rounds leave their thread pinned; tests that come later should not inherit that.
template <class Run>
Round onAThread(Run run) {
    Round round;
    std::thread([&] { round = run(); }).join();
    return round;
}

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

TEST(IdleLatencyRoundTest, MeasuresEveryMessage) {
    RoundPlan plan = smallPlan(1);
    plan.messages = 20;
    const Round round = onAThread(
        [&] { return idleLatencyRound<LockedQueue<Fault::none>, TestMessage, Unpaced>(plan); });
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 20U);
    EXPECT_GT(round.ns, 0);
}

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
