#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace sluice {
namespace {

using Visits = std::vector<std::size_t>;

struct Token {
    int hops;
};

/// Passes a token on to the next object of a ring.
class Stop : public PooledObject<Stop, Messages<Token>> {
public:
    Stop(std::size_t number, Visits& visits) : number_(number), visits_(visits) {}
    void handle(const Token& token) {
        visits_.push_back(number_);
        if (token.hops != 0) {
            (void)next->post(Token{token.hops - 1});
        }
    }
    Stop* next = nullptr;

private:
    std::size_t number_;
    Visits& visits_;
};

/// The order in which three tokens visit the five objects of a ring.
Visits run(std::uint64_t seed) {
    Visits visits;
    ManualExecutor executor(seed);
    std::vector<std::unique_ptr<Running<Stop>>> ring;
    for (std::size_t i = 0; i < 5; ++i) {
        ring.push_back(std::make_unique<Running<Stop>>(executor, i, visits));
    }
    for (std::size_t i = 0; i < ring.size(); ++i) {
        ring[i]->next = ring[(i + 1) % ring.size()].get();
    }
    for (std::size_t i = 0; i < 3; ++i) {
        (void)ring[i]->post(Token{20});
    }
    EXPECT_EQ(executor.runAll(5), 5U);
    executor.runAll();
    EXPECT_FALSE(executor.step());
    return visits;
}

TEST(ManualExecutorTest, SameSeedGivesTheSameRun) {
    std::set<Visits> runs;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Visits visits = run(seed);
        EXPECT_EQ(visits, run(seed));
        EXPECT_EQ(visits.size(), 63U);
        runs.insert(visits);
    }
    EXPECT_GT(runs.size(), 10U) << "other seeds give other orders";
}

struct Ask {};
using Answer = Request<Ask, int>;

class Source : public PooledObject<Source, Messages<Answer>> {
public:
    void handle(const Answer& request) { request.reply(7); }
};
class Asker : public PooledObject<Asker, Messages<Token>> {
public:
    explicit Asker(Source& source) : source_(source) {}
    void handle(const Token&) {
        answer = source_.request<int>(Ask{}, std::chrono::hours(1)).get().value();
    }
    int answer = 0;

private:
    Source& source_;
};

TEST(ManualExecutorTest, AHandlerMayWaitForAnotherObject) {
    ManualExecutor executor;
    Running<Source> source(executor);
    Running<Asker> asker(executor, source);
    (void)asker.post(Token{0});
    executor.runAll();
    EXPECT_EQ(asker.answer, 7);
}

TEST(ManualExecutorTest, ClockMovesInRunForOnly) {
    ManualExecutor executor;
    EXPECT_EQ(executor.now(), Executor::TimePoint());
    executor.runFor(std::chrono::seconds(3));
    EXPECT_EQ(executor.now(), Executor::TimePoint() + std::chrono::seconds(3));
}

struct Timed : PooledTraits {
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
    static constexpr std::size_t maxTimers = 2;
    static constexpr bool handlerTimes = true;
};
class Clockwork : public PooledObject<Clockwork, Messages<Token>, Timed> {
public:
    void handle(const Token& /*token*/) {}
};

TEST(ManualExecutorTest, TheClockStopsBeforeTimesOverflow) {
    ManualExecutor executor;
    Running<Clockwork> object(executor);
    EXPECT_TRUE(object.postAt(Executor::TimePoint::max(), Token{})) << "never";
    executor.runFor(std::chrono::hours::max());
    EXPECT_LT(executor.now(), Executor::TimePoint::max());
    EXPECT_EQ(object.firedTimers(), 0U);
    EXPECT_TRUE(object.postEveryFrom(Executor::TimePoint::min(), std::chrono::hours(1), Token{}));
    executor.runFor(std::chrono::hours::max());
    EXPECT_EQ(object.firedTimers(), 1U);
    EXPECT_GT(object.handlerTimes().inQueue.count(), 0);
}

TEST(ManualExecutorDeathTest, IsNotDestroyedBeforeItsObjectsHaveEnded) {
    const auto destroy = [] {
        auto executor = std::make_unique<ManualExecutor>();
        const Running<Source> object(*executor);
        executor.reset();
    };
    EXPECT_DEATH(destroy(), "declare the executor before its objects");
}

}  // namespace
}  // namespace sluice
