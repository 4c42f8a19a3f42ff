#include "harness/run/event_batches.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {
namespace {

template <class Type>
class PlainQueue {
public:
    using Argument = Type;
    template <class Callback>
    void add(int event, Callback callback) {
        listeners_[event] = callback;
    }
    void enqueue(int event, const Argument& argument) { queued_.emplace_back(event, argument); }
    void process() {
        visit([this](int event, const Argument& argument) { listeners_.at(event)(argument); });
    }
    template <class Visitor>
    void visit(Visitor visitor) {
        for (const auto& [event, argument] : std::exchange(queued_, {})) {
            visitor(event, argument);
        }
    }

protected:
    std::vector<std::pair<int, Argument>> queued_;

private:
    std::map<int, std::function<void(const Argument&)>> listeners_;
};

/// Keeps no order.
struct Shuffling : PlainQueue<ShortArgument> {
    void process() {
        std::swap(queued_.front(), queued_.back());
        PlainQueue::process();
    }
};

struct Losing : PlainQueue<ShortArgument> {
    void process() {
        queued_.pop_back();
        PlainQueue::process();
    }
};

// Ten batches, each of four queues with 1 000 events.
RoundPlan plan() {
    RoundPlan plan;
    plan.placement.consumerCpu = allowedCpus().front();
    plan.messages = 40000;
    plan.capacity = 1000;
    return plan;
}

template <class Queue, class Drain>
void expectAll() {
    const Round enqueue = eventBatchRound<Queue, Drain, Phase::enqueue>(plan());
    const Round drain = eventBatchRound<Queue, Drain, Phase::drain>(plan());
    const Round both = eventBatchRound<Queue, Drain, Phase::both>(plan());
    for (const Round& round : {enqueue, drain, both}) {
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.counts.delivered, 44000U) << "the first batch is the run-in";
        EXPECT_GT(round.ns, 0);
    }
    EXPECT_EQ(enqueue.clockReads, 20U) << "the four queues are timed together";
    EXPECT_EQ(drain.clockReads, 20U);
    EXPECT_EQ(both.clockReads, 30U);
}

TEST(EventBatchRoundTest, EveryArgumentIsReadByListenersAndByVisitors) {
    expectAll<PlainQueue<ShortArgument>, CallListeners>();
    expectAll<PlainQueue<ShortArgument>, CallVisitor>();
    expectAll<PlainQueue<std::string>, CallListeners>();
    expectAll<PlainQueue<PointerArgument>, CallListeners>();
}

TEST(EventBatchRoundTest, EventsMayHaveOneId) {
    const Round round =
        eventBatchRound<PlainQueue<ShortArgument>, CallListeners, Phase::drain, 1>(plan());
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.delivered, 44000U);
}

TEST(EventBatchRoundTest, DisorderAndLossAreNoticed) {
    const Round shuffled = eventBatchRound<Shuffling, CallListeners, Phase::drain>(plan());
    const Round lost = eventBatchRound<Losing, CallListeners, Phase::drain>(plan());
    EXPECT_NE(shuffled.error.find("order"), std::string::npos);
    EXPECT_NE(lost.error.find("delivered"), std::string::npos);
}

TEST(ArgumentSourceTest, StringsCarryTheirNumber) {
    ArgumentSource<std::string> source;
    const std::string first = source.next();
    const std::string second = source.next();
    EXPECT_EQ(first.size(), 40U);
    EXPECT_EQ(sequenceOf(first), 0U);
    EXPECT_EQ(sequenceOf(second), 1U);
    EXPECT_EQ(checksumOf(second), checksumOf(first) + 1);
}

}  // namespace
}  // namespace sluice::bench
