#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/base/platform.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {
namespace executors {

using namespace test;
using namespace std::chrono_literals;
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

/// Replies after 300 ms, or never.
class Delaying : public PooledObject<Delaying, Messages<Answer, Token>, OneTimer> {
public:
    void handle(const Answer& request) {
        kept.emplace_back(request.take());
        EXPECT_TRUE(repliesNever || postAfter(300ms, Token{0}));
    }
    void handle(const Token& /*token*/) { kept.back().reply(7); }
    std::vector<Answer> kept;
    bool repliesNever = false;
};

TEST(ManualExecutorTest, TheVirtualClockDecidesOnRepliesAndDeadlines) {
    ManualExecutor executor;
    Running<Delaying> source(executor);
    const auto start = executor.now();
    EXPECT_EQ(source.request<int>(Ask{}, 500ms).get().value(), 7);
    EXPECT_EQ(executor.now() - start, 300ms);
    int answer = 0;
    Running<Acting> asker(executor,
                          [&] { answer = source.request<int>(Ask{}, 500ms).get().value(); });
    (void)asker.post(Act{});
    executor.runFor(1ms);
    EXPECT_EQ(answer, 7) << "in a handler";
    EXPECT_EQ(executor.now() - start, 600ms);
    source.repliesNever = true;
    EXPECT_EQ(source.request<int>(Ask{}, 500ms).get().error(), RequestError::timedOut);
    EXPECT_EQ(executor.now() - start, 1100ms);
    auto future = source.request<int>(Ask{}, 500ms);
    executor.runFor(1h);
    EXPECT_EQ(future.get().error(), RequestError::timedOut);
    EXPECT_EQ(executor.now() - start, 1100ms + 1h);
}

TEST(ManualExecutorTest, AReplyThatHasArrivedOutlivesTheExecutor) {
    auto executor = std::make_unique<ManualExecutor>();
    auto source = std::make_unique<Running<Delaying>>(*executor);
    auto future = source->request<int>(Ask{}, 500ms);
    executor->runFor(400ms);
    source.reset();
    executor.reset();
    EXPECT_EQ(future.get().value(), 7);
}

struct Timed : PooledTraits {
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
    static constexpr std::size_t maxTimers = 2;
    static constexpr bool handlerTimes = true;
};
class Clockwork : public PooledObject<Clockwork, Messages<Token>, Timed> {
public:
    void handle(const Token& token) {
        if (token.hops == 1) {
            stop();
        }
    }
};

TEST(ManualExecutorTest, TheVirtualClockDecidesOnEnds) {
    ManualExecutor executor;
    Running<Clockwork> object(executor);
    EXPECT_TRUE(object.postAfter(10ms, Token{1}));
    EXPECT_TRUE(object.join()) << "its timer stops it";
    EXPECT_EQ(executor.now().time_since_epoch(), 10ms);
}

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
        const Running<Acting> object(*executor, [] {});
        executor.reset();
    };
    EXPECT_DEATH(destroy(), "declare the executor before its objects");
}

}  // namespace executors

namespace custom {

using namespace test;

/// Runs each task at once, and counts the waits for an end.
class AtOnce final : public Executor {
public:
    AtOnce() : Executor(ExecutorOptions{}) {}
    ~AtOnce() override { expectNoObjects(); }
    void schedule(ExecutorTask& task) override { task.run(); }
    void scheduleLast(ExecutorTask& task) override { task.run(); }
    [[nodiscard]] TimePoint now() const override { return {}; }
    void addAlarm(TimedExecutorTask& /*task*/) override {}
    void setAlarm(TimedExecutorTask& /*task*/, TimePoint /*time*/) override {}
    void removeAlarm(TimedExecutorTask& /*task*/) override {}
    void beforeWait() override {}
    bool awaitEnd(ExecutorTask& task, HasEnded hasEnded, TimePoint deadline) override {
        ++waits;
        return Executor::awaitEnd(task, hasEnded, deadline);
    }
    int waits = 0;
};

// So the executor may be destroyed before the object.
TEST(ExecutorTest, AnObjectThatHasEndedDoesNotUseIt) {
    AtOnce executor;
    {
        Running<Acting> object(executor, [] {});
        EXPECT_EQ(object.post(Act{}), SendResult::ok);
        object.stop();
        EXPECT_TRUE(object.hasEnded());
        EXPECT_TRUE(object.join());
        EXPECT_FALSE(object.stopAfterDrain(Executor::TimePoint::max())) << "it was discarding";
    }
    EXPECT_EQ(executor.waits, 0);
}

}  // namespace custom

namespace clocks {

using namespace test;
using namespace std::chrono_literals;

struct OneTag;

struct Blocks : Holds<8> {
    static constexpr std::array<Overflow, priorityCount> overflow{Overflow::block, Overflow::block,
                                                                  Overflow::block};
};
using ByHand = Keeper<ManualTraits<Blocks>>;

TEST(ManualTraitsTest, WaitsForRoomFailAtOnce) {
    ByHand object;
    while (object.tryPost(Add{1}) == SendResult::ok) {
    }
    EXPECT_EQ(object.post(Add{1}), SendResult::full);
    EXPECT_EQ(object.postFor(1h, Add{1}), SendResult::full);
    object.stop();
}

TEST(ManualTraitsDeathTest, WaitsWithoutALimitEndTheProgram) {
#if defined(SLUICE_TEST_EMULATED)
    GTEST_SKIP() << "the emulator cannot start the program again";
#endif
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ManualWait<StdPlatform> wait;
    wait.wait([] { return true; });
    EXPECT_DEATH(wait.wait([] { return false; }), "would wait for itself");
}

TEST(ManualTraitsDeathTest, ClocksDoNotMoveBack) {
#if defined(NDEBUG)
    GTEST_SKIP() << "asserted in debug builds";
#else
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(ManualClock<OneTag>::advance(-1ns), "does not move back");
#endif
}

}  // namespace clocks
}  // namespace
}  // namespace sluice
