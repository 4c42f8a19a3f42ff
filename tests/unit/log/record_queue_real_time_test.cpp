#include "support/record_queue_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>

// Threads of real-time priorities beside ordinary ones.

namespace sluice::test {
namespace {

bool makeRealTime() {
    sched_param parameters{};
    parameters.sched_priority = 10;
    return ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters) == 0;
}

/// As the kernel schedules the calling thread; negative for real-time priorities.
int priorityOfThisThread() {
    std::ifstream file("/proc/thread-self/stat");
    std::string text;
    std::getline(file, text);
    // The name, in brackets, may hold anything.
    std::size_t at = text.rfind(')');
    for (int field = 2; field < 18 && at != std::string::npos; ++field) {
        at = text.find(' ', at + 1);
    }
    return at == std::string::npos ? 0 : std::stoi(text.substr(at));
}

/// Whoever holds the list of lanes while a real-time thread waits for it runs at that priority.
TEST(RecordQueueRealTime, AThreadThatHoldsTheLanesIsNotLeftBehind) {
    LabelQueue<> queue;
    const Watchdog watchdog(stateOf(queue));
    ASSERT_EQ(postText(queue, {0, 0}, ""), SendResult::ok);
    std::atomic<int> isRealTime{-1};
    std::atomic<bool> mayPost{false};
    std::thread realTime([&] {
        isRealTime.store(makeRealTime() ? 1 : 0);
        while (isRealTime.load() == 1 && !mayPost.load()) {
            std::this_thread::yield();
        }
        ASSERT_EQ(postText(queue, {1, 0}, ""), SendResult::ok) << "its first post asks for a lane";
    });
    while (isRealTime.load() == -1) {
        std::this_thread::yield();
    }
    if (isRealTime.load() == 0) {
        realTime.join();
        GTEST_SKIP() << "this user may not make threads real-time";
    }
    static_cast<void>(queue.statistics([&](const log::thread_statistics&) {
        mayPost.store(true);
        while (priorityOfThisThread() >= 0) {
            std::this_thread::yield();
        }
    }));
    realTime.join();
    EXPECT_GE(priorityOfThisThread(), 0);
}

}  // namespace
}  // namespace sluice::test
#endif
