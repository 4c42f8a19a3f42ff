#include <sluice/eventpp/high_perf_policy.hpp>

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace sluice {
namespace {

struct DerivedPolicies : HighPerfPolicy {
    using Threading = SingleThreading;
};
struct BorrowingPolicies {
    template <class Item>
    using QueueList = HighPerfPolicy::QueueList<Item>;
};

template <class Policies>
std::size_t bytesOfQueue() {
    return sizeof(EventQueue<int, void(int), Policies>);
}

// Programs name the list that comes with the policy, and still get the slabs.
TEST(HighPerfPolicyTest, HasAQueueListForPoliciesOfTheUser) {
    EventQueue<int, void(int), DerivedPolicies> derived;
    EventQueue<int, void(int), BorrowingPolicies> borrowing;
    int sum = 0;
    const auto add = [&sum](int value) { sum += value; };
    derived.appendListener(1, add);
    borrowing.appendListener(1, add);
    derived.enqueue(1, 2);
    borrowing.enqueue(1, 3);
    EXPECT_TRUE(derived.process() && borrowing.process());
    EXPECT_EQ(sum, 5);
    EXPECT_EQ(bytesOfQueue<BorrowingPolicies>(), bytesOfQueue<DefaultPolicies>());

    HighPerfPolicy::QueueList<int> list{1, 2};
    EXPECT_EQ(list.size(), 2U);
}

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
