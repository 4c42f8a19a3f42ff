#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/stopping_clock.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

using log::thread_statistics;

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
}

// The back end naps: a post that ends wakes nobody that does not sleep in the event count.
TEST_F(RecordQueueStall, TheBackEndWaitsForIt) {
    StoppingQueue queue;
    const Watchdog watchdog(stateOf(queue));
    stopAThread(queue);
    queue.poll();
    queue.poll();
    static_cast<void>(queue.waitForWork(StdPlatform::Clock::time_point::max()));
    letItGoOn();
    EXPECT_TRUE(queue.waitForWork(StdPlatform::Clock::time_point::max()));
    EXPECT_EQ(emitAll(queue).size(), 1U);
}

}  // namespace
}  // namespace sluice::test
