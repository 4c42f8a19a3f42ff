#include "support/crew.hpp"
#include "support/real_time.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/priority_mutex.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sluice {
namespace {

using namespace test;

TEST(PriorityMutexTest, ExcludesOtherThreads) {
    PriorityMutex mutex;
    std::size_t count = 0;
    const std::size_t rounds = scaled(100'000);
    {
        Crew crew;
        for (int i = 0; i < 3; ++i) {
            crew.add([&] {
                for (std::size_t round = 0; round < rounds; ++round) {
                    const std::lock_guard<PriorityMutex> guard(mutex);
                    ++count;
                }
            });
        }
    }
    EXPECT_EQ(count, 3 * rounds);
}

TEST(PriorityMutexTest, TryLockNeverWaits) {
    PriorityMutex mutex;
    ASSERT_TRUE(mutex.try_lock());
    std::thread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
    mutex.unlock();
    ASSERT_TRUE(mutex.try_lock());
    mutex.unlock();
}

// All on one processor: a thread of low priority holds the mutex, one of high priority waits for
// it, and one in between spins until the high one has had it. The low one can go on only with the
// priority of the high one.
TEST(PriorityMutexTest, HolderGetsThePriorityOfTheThreadThatWaits) {
    const Watchdog watchdog([](std::FILE*) {});
    PriorityMutex mutex;
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isSpinning{false};
    std::atomic<bool> hasHad{false};
    std::atomic<bool> isRefused{false};
    const auto run = [&](int priority, auto work) {
        return std::thread([&isRefused, priority, work] {
            if (!becomeRealTime(priority)) {
                isRefused.store(true);
            }
            work();
        });
    };
    std::thread low = run(1, [&] {
        const std::lock_guard<PriorityMutex> guard(mutex);
        isHeld.store(true);
        awaitThat([&] { return isSpinning.load(); });
    });
    awaitThat([&] { return isHeld.load(); });
    std::thread middle = run(2, [&] {
        isSpinning.store(true);
        while (!hasHad.load() && !isRefused.load()) {
        }
    });
    awaitThat([&] { return isSpinning.load(); });
    std::thread high = run(3, [&] {
        const std::lock_guard<PriorityMutex> guard(mutex);
        hasHad.store(true);
    });
    low.join();
    middle.join();
    high.join();
    if (isRefused.load()) {
        GTEST_SKIP() << "the system refuses real-time priorities";
    }
    EXPECT_TRUE(hasHad.load());
}

TEST(PriorityMutexTest, ChildOfAForkUnlocksWhatAnotherThreadHeld) {
    PriorityMutex mutex;
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isOver{false};
    std::thread holder([&] {
        const std::lock_guard<PriorityMutex> guard(mutex);
        isHeld.store(true);
        awaitThat([&] { return isOver.load(); });
    });
    awaitThat([&] { return isHeld.load(); });
    const pid_t child = ::fork();
    if (child == 0) {
        mutex.forgetHolder();
        const bool isFree = mutex.try_lock();
        ::_exit(isFree ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    isOver.store(true);
    holder.join();
}

}  // namespace
}  // namespace sluice
