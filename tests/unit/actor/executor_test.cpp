#include <sluice/actor/executor.hpp>
#include <sluice/actor/manual_executor.hpp>

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

}  // namespace
}  // namespace sluice
