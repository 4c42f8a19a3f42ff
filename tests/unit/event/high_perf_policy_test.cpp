#include <sluice/event/high_perf_policy.hpp>

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice {
namespace {

TEST(HighPerfPolicyTest, QueueWithItWaitsToo) {
    EventQueue<int, void(int), HighPerfPolicy> queue;
    int sum = 0;
    queue.appendListener(1, [&sum](int value) { sum += value; });
    EXPECT_FALSE(queue.waitFor(std::chrono::nanoseconds(1)));
    queue.enqueue(1, 2);
    queue.wait();
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 2);
}

}  // namespace
}  // namespace sluice
