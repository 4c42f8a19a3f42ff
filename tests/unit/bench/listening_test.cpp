#include "harness/run/listening.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
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

TEST(TallyTest, SumsUp) {
    EXPECT_EQ(sumTo(0), 0U);
    EXPECT_EQ(sumTo(1), 1U);
    EXPECT_EQ(sumTo(100), 5050U);
    EXPECT_EQ(sumTo(101), 5151U);
}

}  // namespace
}  // namespace sluice::bench
