#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/stopping_clock.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

// A stopped thread, and a limit for how long it may hold the output back.

namespace sluice::test {
namespace {

using log::thread_statistics;
using log::detail::RecordQueueOptions;

class RecordQueueStall : public testing::Test {
protected:
    using StoppingQueue = LabelQueue<StoppingTraits>;

    void stopAThread(StoppingQueue& queue) {
        StoppingClock::isStopped = false;
        StoppingClock::mayGoOn = false;
        thread_ = std::thread([&queue] {
            StoppingClock::stops = true;
            ASSERT_EQ(postText(queue, {0, 1}, "stopped"), SendResult::ok);
        });
        awaitThat([] { return StoppingClock::isStopped.load(); });
    }
    void letItGoOn() {
        StoppingClock::mayGoOn = true;
        thread_.join();
    }

private:
    std::thread thread_;
};

TEST_F(RecordQueueStall, AStoppedThreadHoldsBackWhatIsStampedLaterAndNothingElse) {
    StoppingQueue queue;
    ASSERT_EQ(postText(queue, {0, 0}, "before"), SendResult::ok);
    queue.poll();
    stopAThread(queue);
    ASSERT_EQ(postText(queue, {0, 2}, "after"), SendResult::ok);
    EXPECT_EQ(numbersOf(emitAll(queue)), std::vector<std::uint32_t>{0});
    EXPECT_EQ(emitAll(queue).size(), 0U);
    EXPECT_EQ(emitAll(queue).size(), 0U);
    EXPECT_EQ(queue.statistics().stalls, 1U);
    std::uint64_t inLanes = 0;
    (void)queue.statistics([&](const thread_statistics& lane) { inLanes += lane.stalls; });
    EXPECT_EQ(inLanes, 1U);
    letItGoOn();
    EXPECT_EQ(numbersOf(emitAll(queue)), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_GT(queue.statistics().longest_stall.count(), 0);
    EXPECT_EQ(queue.statistics().order_violations, 0U);
}

TEST_F(RecordQueueStall, ALimitLetsTheOthersPassAndCountsWhatComesTooLate) {
    RecordQueueOptions options;
    options.maxHold = std::chrono::milliseconds(5);
    StoppingQueue queue(options);
    const Watchdog watchdog(stateOf(queue));
    stopAThread(queue);
    ASSERT_EQ(postText(queue, {0, 2}, "after"), SendResult::ok);
    std::vector<Emitted> all;
    while (all.empty()) {
        all = emitAll(queue);
    }
    EXPECT_EQ(numbersOf(all), std::vector<std::uint32_t>{2});
    EXPECT_EQ(queue.statistics().ignored_stalls, 1U);
    EXPECT_EQ(queue.statistics().order_violations, 0U);
    letItGoOn();
    EXPECT_EQ(numbersOf(emitAll(queue)), std::vector<std::uint32_t>{1});
    EXPECT_EQ(queue.statistics().order_violations, 1U);
    EXPECT_GE(queue.statistics().longest_stall, std::chrono::milliseconds(5));
}

// While it is stopped the back end sleeps; what wakes it is the thread going on.
TEST_F(RecordQueueStall, TheBackEndSleepsWhileAThreadIsStopped) {
    StoppingQueue queue;
    const Watchdog watchdog(stateOf(queue));
    stopAThread(queue);
    ASSERT_EQ(postText(queue, {0, 2}, "after"), SendResult::ok);
    queue.poll();
    queue.poll();
    EXPECT_FALSE(queue.waitForWork(StdPlatform::Clock::now() + std::chrono::milliseconds(1)));
    EXPECT_FALSE(queue.waitForWork(StdPlatform::Clock::time_point::max()));
    letItGoOn();
    EXPECT_TRUE(queue.waitForWork(StdPlatform::Clock::time_point::max()));
    EXPECT_EQ(emitAll(queue).size(), 2U);
}

}  // namespace
}  // namespace sluice::test
