#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

TEST(EventQueueTest, ProcessDispatchesInOrderWhatIsQueued) {
    EventQueue<int, void(const std::string&)> queue;
    std::vector<std::string> seen;
    queue.appendListener(1, [&](const std::string& text) { seen.push_back(text); });
    EXPECT_FALSE(queue.process());
    EXPECT_TRUE(queue.enqueue(1, "a"));
    EXPECT_TRUE(queue.enqueue(1, "b"));
    EXPECT_FALSE(queue.emptyQueue());
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(queue.emptyQueue());
}

}  // namespace
}  // namespace sluice
