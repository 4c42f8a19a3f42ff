#include <sluice/actor/executor.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice {
namespace {

TEST(ExecutorTest, HasMemoryForSoManyMessages) {
    ExecutorOptions options;
    options.messageSize = 200;
    options.maxMessages = 2;
    ManualExecutor executor(0, options);
    EXPECT_GE(executor.messageSize(), 200U);
    void* const first = executor.tryAllocate();
    void* const second = executor.tryAllocate();
    EXPECT_NE(first, nullptr);
    EXPECT_NE(second, nullptr);
    EXPECT_EQ(executor.tryAllocate(), nullptr);
    executor.deallocate(first);
    EXPECT_EQ(executor.tryAllocate(), first);
    executor.deallocate(first);
    executor.deallocate(second);
}

TEST(ExecutorTest, AThreadThatRunsNoTaskHasNothingToHandOver) {
    Executor::beforeWaitInHandler();
}

class Noted : public TimedExecutorTask {
public:
    Noted() : TimedExecutorTask(&Noted::note, &Noted::wakeUp) {}
    bool isWoken = false;

private:
    static void note(ExecutorTask& /*task*/) {}
    static bool wakeUp(TimedExecutorTask& task) {
        static_cast<Noted&>(task).isWoken = true;
        return false;
    }
};

TEST(ExecutorTest, AlarmIsSetOnceAndMayBeMoved) {
    using namespace std::chrono_literals;
    ManualExecutor executor;
    Noted task;
    executor.addAlarm(task);
    executor.runFor(1s);
    EXPECT_FALSE(task.isWoken) << "it was not set";
    executor.setAlarm(task, executor.now() + 1s);
    executor.setAlarm(task, executor.now() + 3s);
    executor.runFor(2s);
    EXPECT_FALSE(task.isWoken);
    executor.runFor(1s);
    EXPECT_TRUE(task.isWoken);
    task.isWoken = false;
    executor.runFor(1h);
    EXPECT_FALSE(task.isWoken);
    executor.setAlarm(task, executor.now() + 1s);
    executor.removeAlarm(task);
    executor.runFor(1h);
    EXPECT_FALSE(task.isWoken);
}

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
class Session : public PooledObject<Session, Messages<int>> {
public:
    void handle(const int& /*number*/) {}
};

// So the executor may be destroyed before the object.
TEST(ExecutorTest, AnObjectThatHasEndedDoesNotUseIt) {
    AtOnce executor;
    {
        Running<Session> object(executor);
        EXPECT_EQ(object.post(1), SendResult::ok);
        object.stop();
        EXPECT_TRUE(object.hasEnded());
        EXPECT_TRUE(object.join());
        EXPECT_FALSE(object.stopAfterDrain(Executor::TimePoint::max())) << "it was discarding";
    }
    EXPECT_EQ(executor.waits, 0);
}

}  // namespace
}  // namespace sluice
