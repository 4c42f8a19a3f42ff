#include "support/crew.hpp"
#include "support/watchdog.hpp"

#include <sluice/eventpp/heter_event_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace sluice {
namespace {

TEST(HeterEventQueueThreadsTest, EventsOfTwoThreadsAreProcessedOnceAndInOrder) {
    const test::Watchdog watchdog([](std::FILE*) {});
    constexpr int count = 5000;
    HeterEventQueue<int, HeterTuple<void(int), void(const std::string&)>> queue;
    std::atomic<int> processed{0};
    std::vector<int> last(2, -1);
    int wrong = 0;
    const auto note = [&](std::size_t thread, int n) {
        wrong += n == last[thread] + 1 ? 0 : 1;
        last[thread] = n;
        processed.fetch_add(1);
    };
    queue.appendListener(0, [&](int n) { note(0, n); });
    queue.appendListener(1, [&](const std::string& text) { note(1, std::stoi(text)); });
    {
        test::Crew crew;
        crew.add([&] {
            for (int i = 0; i < count; ++i) {
                queue.enqueue(0, i);
            }
        });
        crew.add([&] {
            for (int i = 0; i < count; ++i) {
                queue.enqueue(1, std::to_string(i));
            }
        });
        crew.add([&] {
            while (processed.load() != 2 * count) {
                queue.wait();
                queue.process();
            }
        });
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(last, (std::vector<int>{count - 1, count - 1}));
}

}  // namespace
}  // namespace sluice
