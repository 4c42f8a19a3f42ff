#include <sluice/actor/detail/threads/task_line.hpp>

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

TEST(TaskLineTest, AgreesWithADequeWhateverIsAppendedAndRemoved) {
    std::array<Task, 6> tasks;
    std::mt19937 random(1);
    TaskLine line;
    std::deque<ExecutorTask*> expected;
    for (int i = 0; i < 20000; ++i) {
        Task& task = tasks[random() % tasks.size()];
        const auto place = std::find(expected.begin(), expected.end(), &task);
        ASSERT_EQ(line.contains(task), place != expected.end());
        if (random() % 4 == 0) {
            ASSERT_EQ(line.pop(), expected.empty() ? nullptr : expected.front());
            if (!expected.empty()) {
                expected.pop_front();
            }
        } else if (place != expected.end()) {
            line.remove(task);
            expected.erase(place);
        } else {
            line.append(task);
            expected.push_back(&task);
        }
        ASSERT_EQ(line.isEmpty(), expected.empty());
        ASSERT_EQ(line.hasSeveral(), expected.size() > 1);
    }
}

}  // namespace
}  // namespace sluice::detail
