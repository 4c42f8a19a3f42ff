#include <sluice/base/pause.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice {
namespace {

static_assert(noexcept(cpuPause()));

TEST(PauseTest, PollingLoopSeesWhatAnotherThreadStores) {
    std::atomic<int> turn{0};
    std::thread other([&] {
        while (turn.load(std::memory_order_relaxed) != 1) {
            cpuPause();
        }
        turn.store(2, std::memory_order_relaxed);
    });
    turn.store(1, std::memory_order_relaxed);
    while (turn.load(std::memory_order_relaxed) != 2) {
        cpuPause();
    }
    other.join();
    EXPECT_EQ(turn.load(), 2);
}

}  // namespace
}  // namespace sluice
