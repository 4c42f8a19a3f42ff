// Rounds of callback lists, dispatchers and event queues.

#include "adapters/event_subjects.hpp"
#include "harness/run/event_batches.hpp"
#include "harness/run/listening.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {
namespace {

/// Can do all that the rounds ask for, from several threads.
class PlainList {
public:
    virtual ~PlainList() = default;
    template <class Callback>
    int add(Callback callback) {
        const std::lock_guard<std::mutex> guard(mutex_);
        callbacks_.emplace_back(++last_, callback);
        return last_;
    }
    void remove(int handle) {
        const std::lock_guard<std::mutex> guard(mutex_);
        callbacks_.erase(std::find_if(callbacks_.begin(), callbacks_.end(),
                                      [=](const auto& each) { return each.first == handle; }));
    }
    virtual void call(std::uint64_t value, Tally& tally) {
        const std::lock_guard<std::mutex> guard(mutex_);
        for (const auto& each : callbacks_) {
            each.second(value, tally);
        }
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<int, std::function<void(std::uint64_t, Tally&)>>> callbacks_;
    int last_ = 0;
};

/// Hands every listener another value than it was given.
struct Distorting : PlainList {
    void call(std::uint64_t value, Tally& tally) override { PlainList::call(value + 1, tally); }
};

/// Forgets to call anybody, once.
struct Forgetful : PlainList {
    void call(std::uint64_t value, Tally& tally) override {
        if (value != 5) {
            PlainList::call(value, tally);
        }
    }
};

struct PlainDispatcher {
    std::map<int, PlainList> lists;
    template <class Callback>
    void add(int event, Callback callback) {
        lists[event].add(callback);
    }
    void dispatch(int event, std::uint64_t value, Tally& tally) {
        lists.at(event).call(value, tally);
    }
};

/// Calls the listener of another event.
struct Confusing : PlainDispatcher {
    void dispatch(int event, std::uint64_t value, Tally& tally) {
        PlainDispatcher::dispatch(event == 3 ? 4 : event, value, tally);
    }
};

RoundPlan planOf(std::size_t threads, std::size_t size) {
    RoundPlan plan;
    const int cpu = allowedCpus().front();
    plan.placement.consumerCpu = cpu;
    plan.placement.producerCpus.assign(threads - 1, allowedCpus().back());
    plan.messages = 200;
    plan.runIn = 10;
    plan.capacity = size;
    return plan;
}

TEST(ListeningRoundTest, EachListenerIsCountedOnEachThread) {
    for (const std::size_t threads : {1U, 2U}) {
        const Round round = callRound<PlainList>(planOf(threads, 7));
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.counts.delivered, 210 * threads * 7);
        EXPECT_GT(round.ns, 0);
    }
}

TEST(ListeningRoundTest, AValueThatChangedOnTheWayIsNoticed) {
    EXPECT_NE(callRound<Distorting>(planOf(1, 7)).error.find("checksum"), std::string::npos);
}

TEST(ListeningRoundTest, ACallThatWasLostIsNoticed) {
    EXPECT_NE(callRound<Forgetful>(planOf(1, 7)).error.find("delivered"), std::string::npos);
}

TEST(ListeningRoundTest, AddingAndRemovingLeavesTheListAsItWas) {
    const Round pair = addRemoveRound<PlainList>(planOf(1, 7));
    EXPECT_EQ(pair.error, "");
    EXPECT_EQ(pair.counts.delivered, 2 * 7U);
    const Round later = addRemoveRound<PlainList>(planOf(2, 7));
    EXPECT_EQ(later.error, "");
    EXPECT_EQ(later.counts.delivered, 3 * 7U) << "the other thread has called too";
    const Round grown = growRound<PlainList>(planOf(1, 50));
    EXPECT_EQ(grown.error, "");
    EXPECT_EQ(grown.counts.delivered, (200 / 50 + 2) * 50U) << "with the run-in's list";
}

TEST(ListeningRoundTest, ChangesAndCallsAtTheSameTimeAreChecked) {
    const Round changes = contendedRound<PlainList, false>(planOf(2, 7));
    EXPECT_EQ(changes.error, "");
    const Round calls = contendedRound<PlainList, true>(planOf(2, 7));
    EXPECT_EQ(calls.error, "");
    EXPECT_EQ(calls.counts.delivered, 200 * 7U) << "those that come and go are not counted";
    EXPECT_NE((contendedRound<Distorting, true>(planOf(2, 7)).error), "");
}

TEST(ListeningRoundTest, EventsMustReachTheirOwnListener) {
    for (const std::size_t threads : {1U, 2U}) {
        const Round round = dispatchRound<PlainDispatcher>(planOf(threads, 10));
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.counts.delivered, 210 * threads);
    }
    EXPECT_NE(dispatchRound<Confusing>(planOf(1, 10)).error.find("checksum"), std::string::npos);
}

TEST(ListeningRoundTest, EventsComeInAnOrderThatUsesAllOfThem) {
    const EventOrder order(100);
    std::vector<int> times(100);
    for (std::uint64_t i = 0; i < 4096; ++i) {
        ++times.at(std::size_t(order[i]));
    }
    EXPECT_GT(*std::min_element(times.begin(), times.end()), 0);
}

TEST(TallyTest, APassingListenerChecksTheAnnouncedValue) {
    Tally tally;
    tally.announce(3);
    PassingListener()(3, tally);
    EXPECT_EQ(tally.strange(), 0U);
    PassingListener()(4, tally);
    EXPECT_EQ(tally.strange(), 1U);
}

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
RoundPlan batchPlan() {
    RoundPlan plan;
    plan.placement.consumerCpu = allowedCpus().front();
    plan.messages = 40000;
    plan.capacity = 1000;
    return plan;
}

template <class Queue, class Drain>
void expectAll() {
    const Round enqueue = eventBatchRound<Queue, Drain, Phase::enqueue>(batchPlan());
    const Round drain = eventBatchRound<Queue, Drain, Phase::drain>(batchPlan());
    const Round both = eventBatchRound<Queue, Drain, Phase::both>(batchPlan());
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
        eventBatchRound<PlainQueue<ShortArgument>, CallListeners, Phase::drain, 1>(batchPlan());
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.delivered, 44000U);
}

TEST(EventBatchRoundTest, DisorderAndLossAreNoticed) {
    const Round shuffled = eventBatchRound<Shuffling, CallListeners, Phase::drain>(batchPlan());
    const Round lost = eventBatchRound<Losing, CallListeners, Phase::drain>(batchPlan());
    EXPECT_NE(shuffled.error.find("order"), std::string::npos);
    EXPECT_NE(lost.error.find("delivered"), std::string::npos);
}

RoundPlan planFor(const std::string& scenario) {
    const int cpu = allowedCpus().front();
    const bool isAlone =
        scenario.find("2t") == std::string::npos && scenario.find("while") == std::string::npos &&
        scenario.find("across") == std::string::npos && scenario.find("wait") == std::string::npos;
    RoundPlan plan;
    plan.placement.consumerCpu = cpu;
    plan.placement.producerCpus.assign(isAlone ? 0 : 1, allowedCpus().back());
    plan.placement.oversubscribed = cpu == allowedCpus().back();
    plan.capacity = 20;
    plan.messages = 200;
    plan.runIn = 20;
    return plan;
}

/// The benchmark of eventpp, built with our headers instead of eventpp's.
TEST(EventppPeerTest, RunsWithTheHeadersThatBearItsNames) {
    EventSubjects subjects;
    addEventppNames(subjects);
    std::set<std::string> ids;
    for (const EventSubject& subject : subjects) {
        ids.insert(subject.info.id);
        EXPECT_TRUE(subject.info.ours);
        for (const auto& [scenario, round] : subject.rounds) {
            EXPECT_EQ(round(planFor(scenario)).error, "") << subject.info.id << ", " << scenario;
        }
    }
    EXPECT_EQ(ids, (std::set<std::string>{"sluice/eventpp", "sluice/eventpp/paced",
                                          "sluice/eventpp:single"}));
    EXPECT_EQ(subjects.front().rounds.count("visit-1M"), 1U) << "ours has processQueueWith()";
}

}  // namespace
}  // namespace sluice::bench
