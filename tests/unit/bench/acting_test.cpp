#include "harness/run/acting.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace sluice::bench {
namespace {

/// Handles each message on a thread of its own.
class Honest {
public:
    Honest(std::size_t capacity, Handled& handled)
        : capacity_(capacity), handled_(handled), thread_([this] { work(); }) {}
    ~Honest() {
        {
            const std::lock_guard lock(mutex_);
            isEnding_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    bool tryPush(const ActorMessage& message) {
        const std::lock_guard lock(mutex_);
        if (messages_.size() == capacity_) {
            return false;
        }
        messages_.push_back(message);
        changed_.notify_one();
        return true;
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return isEnding_ || !messages_.empty(); });
            if (messages_.empty()) {
                return;
            }
            handled_.take(messages_.front());
            messages_.pop_front();
        }
    }

    const std::size_t capacity_;
    Handled& handled_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<ActorMessage> messages_;
    bool isEnding_ = false;
    std::thread thread_;
};

/// Says that it has taken a message that it throws away.
class Losing : public Honest {
public:
    using Honest::Honest;
    bool tryPush(const ActorMessage& message) {
        return message.sequence() == 7 || Honest::tryPush(message);
    }
};

/// Takes longer for all messages than a round without progress may last.
class Slow : public Honest {
public:
    using Honest::Honest;
    bool tryPush(const ActorMessage& message) {
        const Nanoseconds end = now() + Nanoseconds(stallNs);
        while (now() < end) {
        }
        return Honest::tryPush(message);
    }
    static constexpr double stallNs = 100000;
};

RoundPlan plan(std::size_t senders = 1) {
    RoundPlan plan;
    plan.placement = placeThreads({0, 0}, senders, Spread::apart);
    plan.placement.roaming = allowedCpus();
    plan.capacity = 16;
    plan.runIn = 20;
    plan.messages = 100;
    return plan;
}

TEST(Acting, PostsAreTimedUntilTheLastHandlerEnds) {
    for (const std::size_t senders : {std::size_t{1}, std::size_t{3}}) {
        const Round round = postRound<Honest, ActorMessage>(plan(senders));
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.counts.delivered, 120U);
        EXPECT_EQ(round.timedMessages, 100U);
        EXPECT_GT(round.ns, 0);
    }
}

TEST(Acting, AMessageThatIsNotHandledMakesTheRoundInvalid) {
    RoundPlan impatient = plan();
    impatient.stallNs = 1e6;
    const Round round = postRound<Losing, ActorMessage>(impatient);
    EXPECT_NE(round.error, "");
}

TEST(Acting, ARoundMayTakeAsLongAsItsMessagesArePlannedFor) {
    RoundPlan sustained = plan();
    sustained.stallNs = Slow::stallNs;
    sustained.sendingNs = 1e9;
    EXPECT_EQ((postRound<Slow, ActorMessage>(sustained).error), "");
}

TEST(Acting, ADelayIsThatOfOneMessage) {
    RoundPlan patient = plan();
    patient.restNs = 1000;
    const Round round = delayRound<Honest>(patient);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 100U);
    for (const double sample : round.samples) {
        EXPECT_GT(sample, 0);
    }
    patient.stallNs = 1e6;
    EXPECT_NE(delayRound<Losing>(patient).error, "");
}

template <std::uint64_t Answer>
struct Answering {
    static std::uint64_t ask(std::uint64_t number) { return number + Answer; }
};

TEST(Acting, RepliesAreChecked) {
    EXPECT_EQ(requestRound<Answering<1>>(plan()).error, "");
    EXPECT_NE(requestRound<Answering<2>>(plan()).error, "");
}

template <std::uint64_t Missing>
struct Passing {
    Passing(std::size_t /*objects*/, std::size_t /*threads*/) {}
    static std::uint64_t pass(std::uint64_t hops) { return hops - Missing; }
};

TEST(Acting, HopsAreCounted) {
    EXPECT_EQ(ringRound<Passing<0>>(plan()).error, "");
    EXPECT_NE(ringRound<Passing<1>>(plan()).error, "");
    EXPECT_EQ(idleObjectsRound<Passing<0>>(plan()).error, "");
    EXPECT_NE(idleObjectsRound<Passing<1>>(plan()).error, "");
}

TEST(Acting, IdleThreadsTakeAtLeastTheTimeThatCanBeMeasured) {
    const Round round = idleCpuRound<Passing<0>>(plan());
    EXPECT_EQ(round.error, "");
    EXPECT_GE(round.ns, 1000);
}

}  // namespace
}  // namespace sluice::bench
