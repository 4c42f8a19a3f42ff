#include "support/crew.hpp"
#include "support/watchdog.hpp"

#include <sluice/actor/active_event_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Queue = ActiveEventQueue<std::string, void(int)>;

class ActiveEventQueueTest : public testing::Test {
protected:
    const test::Watchdog watchdog_{[](std::FILE*) {}};
    Queue queue_;
    std::vector<int> seen_;  // read after the thread has ended
};

TEST_F(ActiveEventQueueTest, ItsThreadCallsListenersThatComeAndGo) {
    std::thread::id thread;
    queue_.appendListener("one", [&](int value) {
        seen_.push_back(value);
        thread = std::this_thread::get_id();
    });
    const auto other =
        queue_.appendListener("two", [&](int value) { seen_.push_back(10 * value); });
    queue_.enqueue("one", 1);
    queue_.enqueue("two", 2);
    EXPECT_TRUE(queue_.start({"events"}));
    EXPECT_FALSE(queue_.start());
    test::awaitThat([&] { return queue_.emptyQueue(); });
    EXPECT_TRUE(queue_.removeListener("two", other));
    queue_.enqueue("two", 3);
    queue_.enqueue("one", 4);
    EXPECT_TRUE(queue_.stopAfterDrain(1h));
    EXPECT_TRUE(queue_.join());
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, (std::vector<int>{1, 20, 4}));
    EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_FALSE(queue_.enqueue("one", 5));
    EXPECT_FALSE(queue_.start());
}

TEST_F(ActiveEventQueueTest, DrainingAQueueThatWasNeverStartedDoesNotWait) {
    queue_.enqueue("one", 1);
    EXPECT_FALSE(queue_.stopAfterDrain(std::chrono::hours::max()));
    EXPECT_TRUE(queue_.emptyQueue());
    EXPECT_FALSE(queue_.start());
    EXPECT_TRUE(queue_.join());
}

TEST_F(ActiveEventQueueTest, StopDestroysWhatIsQueued) {
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isOpen{false};
    queue_.appendListener("hold", [&](int value) {
        seen_.push_back(value);
        isHeld = true;
        test::awaitThat([&]() -> bool { return isOpen; });
    });
    queue_.start();
    queue_.enqueue("hold", 1);
    test::awaitThat([&]() -> bool { return isHeld; });
    queue_.enqueue("hold", 2);
    queue_.stop();
    EXPECT_FALSE(queue_.enqueue("hold", 3));
    isOpen = true;
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, std::vector<int>{1});
}

TEST_F(ActiveEventQueueTest, AListenerMayStopAndNeitherWaitsNorJoins) {
    queue_.appendListener("stop", [&](int value) {
        seen_.push_back(value);
        EXPECT_TRUE(queue_.isHere());
        EXPECT_FALSE(queue_.join());
        EXPECT_FALSE(queue_.stopAfterDrain(1h));
    });
    queue_.enqueue("stop", 1);
    queue_.enqueue("stop", 2);
    queue_.start();
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, (std::vector<int>{1, 2})) << "what was queued is dispatched";
    EXPECT_FALSE(queue_.isHere());
}

TEST_F(ActiveEventQueueTest, ADrainThatIsCutShortIsNone) {
    queue_.appendListener("stop", [&](int) {
        test::awaitThat([&] { return queue_.isClosed(); });
        queue_.stop();
    });
    for (int i = 0; i < 10; ++i) {
        queue_.enqueue("stop", i);
    }
    ASSERT_TRUE(queue_.start());
    EXPECT_FALSE(queue_.stopAfterDrain(1h));
}

TEST_F(ActiveEventQueueTest, AListenerMayStartWhileAnotherThreadJoins) {
    std::atomic<bool> isJoining{false};
    std::atomic<bool> isTried{false};
    queue_.appendListener("start", [&](int) {
        test::awaitThat([&]() -> bool { return isJoining; });
        for (int i = 0; i < 1000; ++i) {  // until the other thread is inside join()
            std::this_thread::yield();
        }
        EXPECT_FALSE(queue_.start());
        isTried = true;
    });
    ASSERT_TRUE(queue_.start());
    queue_.enqueue("start", 0);
    std::thread stopper([&] {
        test::awaitThat([&]() -> bool { return isTried; });
        queue_.stop();
    });
    isJoining = true;
    EXPECT_TRUE(queue_.join());
    stopper.join();
}

TEST_F(ActiveEventQueueTest, WithoutAThreadItEndsAtOnce) {
    queue_.enqueue("one", 1);
    EXPECT_TRUE(queue_.join());
    EXPECT_FALSE(queue_.stopAfterDrain(1ms)) << "nobody dispatches";
    EXPECT_TRUE(queue_.emptyQueue());
}

#if defined(__cpp_exceptions)
TEST_F(ActiveEventQueueTest, AListenerThatThrowsIsCountedAndTheNextEventComes) {
    queue_.appendListener("one", [&](int value) {
        seen_.push_back(value);
        if (value == 1) {
            throw std::runtime_error("one");
        }
    });
    queue_.enqueue("one", 1);
    queue_.enqueue("one", 2);
    queue_.start();
    EXPECT_TRUE(queue_.stopAfterDrain(1h));
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, (std::vector<int>{1, 2}));
    EXPECT_EQ(queue_.failures(), 1U);
}

#endif

}  // namespace
}  // namespace sluice
