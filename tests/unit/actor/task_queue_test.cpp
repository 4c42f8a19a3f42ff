#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>

namespace sluice::detail {
namespace {

class Task : public ExecutorTask {
public:
    Task() : ExecutorTask([](ExecutorTask& /*task*/) {}) {}
};

TEST(TaskQueueTest, AgreesWithADequeWhateverIsAppendedAndRemoved) {
    std::array<Task, 6> tasks;
    std::mt19937 random(1);
    TaskQueue queue;
    std::deque<ExecutorTask*> expected;
    for (int i = 0; i < 20000; ++i) {
        Task& task = tasks[random() % tasks.size()];
        const auto place = std::find(expected.begin(), expected.end(), &task);
        ASSERT_EQ(queue.contains(task), place != expected.end());
        if (random() % 4 == 0) {
            ASSERT_EQ(queue.pop(), expected.empty() ? nullptr : expected.front());
            if (!expected.empty()) {
                expected.pop_front();
            }
        } else if (place != expected.end()) {
            queue.remove(task);
            expected.erase(place);
        } else {
            queue.append(task);
            expected.push_back(&task);
        }
        ASSERT_EQ(queue.isEmpty(), expected.empty());
        ASSERT_EQ(queue.hasSeveral(), expected.size() > 1);
    }
}

}  // namespace
}  // namespace sluice::detail
