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
#include <type_traits>
#include <unistd.h>
#include <vector>

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

static_assert(std::is_trivially_destructible_v<PriorityMutex>);
constexpr bool isConstantInitialised = (PriorityMutex(), true);
static_assert(isConstantInitialised);

TEST(PriorityMutexTest, TryLockNeverWaits) {
    PriorityMutex mutex;
    ASSERT_TRUE(mutex.try_lock());
    std::thread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
    mutex.unlock();
    ASSERT_TRUE(mutex.try_lock());
    mutex.unlock();
}

TEST(FutexLockTest, ExcludesOtherThreads) {
    detail::FutexLock lock;
    std::size_t count = 0;
    const std::size_t rounds = scaled(20'000);
    {
        Crew crew;
        for (int i = 0; i < 3; ++i) {
            crew.add([&] {
                for (std::size_t round = 0; round < rounds; ++round) {
                    const std::lock_guard<detail::FutexLock> guard(lock);
                    ++count;
                }
            });
        }
    }
    EXPECT_EQ(count, 3 * rounds);
}

/// Threads of real-time priorities, all on one processor.
template <class Mutex>
class LockRealTimeTest : public testing::Test {
protected:
    template <class Work>
    void run(int priority, Work work) {
        threads_.emplace_back([this, priority, work] {
            if (!becomeRealTime(priority)) {
                isRefused_.store(true);
            }
            work();
        });
    }
    /// Holds the mutex until the flag is set.
    void hold(int priority, const std::atomic<bool>& until) {
        run(priority, [this, &until] {
            const std::lock_guard<Mutex> guard(mutex_);
            isHeld_.store(true);
            awaitThat([&] { return until.load(); });
        });
        awaitThat([this] { return isHeld_.load(); });
    }
    /// Spins until hasHad_ is set.
    void spin(int priority) {
        run(priority, [this] {
            isSpinning_.store(true);
            while (!hasHad_.load() && !isRefused_.load()) {
            }
        });
        awaitThat([this] { return isSpinning_.load(); });
    }
    void join() {
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    const Watchdog watchdog_{[](std::FILE*) {}};
    Mutex mutex_;
    std::atomic<bool> isHeld_{false};
    std::atomic<bool> isSpinning_{false};
    std::atomic<bool> hasHad_{false};
    std::atomic<bool> isRefused_{false};
    std::vector<std::thread> threads_;
};

using PriorityMutexRealTimeTest = LockRealTimeTest<PriorityMutex>;
using FutexLockRealTimeTest = LockRealTimeTest<detail::FutexLock>;

// A thread of low priority holds the mutex, one of high priority waits for it, and one in between
// spins until the high one has had it. The low one can go on only with the priority of the high
// one.
TEST_F(PriorityMutexRealTimeTest, HolderGetsThePriorityOfTheThreadThatWaits) {
    hold(1, isSpinning_);
    spin(2);
    run(3, [this] {
        const std::lock_guard<PriorityMutex> guard(mutex_);
        hasHad_.store(true);
    });
    join();
    if (isRefused_.load()) {
        GTEST_SKIP() << "the system refuses real-time priorities";
    }
    EXPECT_TRUE(hasHad_.load());
}

TEST_F(FutexLockRealTimeTest, HolderGetsThePriorityOfTheThreadThatWaits) {
    hold(1, isSpinning_);
    spin(2);
    run(3, [this] {
        const std::lock_guard<detail::FutexLock> guard(mutex_);
        hasHad_.store(true);
    });
    join();
    if (isRefused_.load()) {
        GTEST_SKIP() << "the system refuses real-time priorities";
    }
    EXPECT_TRUE(hasHad_.load());
}

// The same with one more thread, which waits in front of the high one. Its priority is too low to
// go on when it has the mutex, or to lend.
TEST_F(PriorityMutexRealTimeTest, SoDoesAThreadThatIsInFrontOfIt) {
    hold(1, isSpinning_);
    std::atomic<bool> isWaiting{false};
    run(2, [this, &isWaiting] {
        isWaiting.store(true);
        const std::lock_guard<PriorityMutex> guard(mutex_);
    });
    awaitThat([&] { return isWaiting.load(); });
    spin(3);
    run(4, [this] {
        const std::lock_guard<PriorityMutex> guard(mutex_);
        hasHad_.store(true);
    });
    join();
    if (isRefused_.load()) {
        GTEST_SKIP() << "the system refuses real-time priorities";
    }
    EXPECT_TRUE(hasHad_.load());
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
