#include "support/crew.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/spin_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <type_traits>
#include <vector>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#endif

namespace sluice {
namespace {

struct CountingPlatform : StdPlatform {
    static void pause() noexcept { ++pauses; }
    static void yield() noexcept { ++yields; }

    inline static unsigned pauses = 0;
    inline static unsigned yields = 0;
};

class BackoffTest : public testing::Test {
protected:
    void SetUp() override {
        CountingPlatform::pauses = 0;
        CountingPlatform::yields = 0;
    }

    BasicBackoff<CountingPlatform> backoff;
};

TEST_F(BackoffTest, PausesDoubleFromOneToTheLimit) {
    std::vector<unsigned> steps;
    while (!backoff.isLong()) {
        const unsigned before = CountingPlatform::pauses;
        backoff.wait();
        steps.push_back(CountingPlatform::pauses - before);
    }
    EXPECT_EQ(steps, (std::vector<unsigned>{1, 2, 4, 8, 16, 32, 64}));
    EXPECT_EQ(CountingPlatform::yields, 0U);
}

TEST_F(BackoffTest, YieldsAfterThePausesAndThenSleeps) {
    while (!backoff.isLong()) {
        backoff.wait();
    }
    for (unsigned yields = 1; yields <= 16; ++yields) {
        backoff.wait();
        EXPECT_EQ(CountingPlatform::yields, yields);
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) {
        backoff.wait();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::microseconds(200));
    EXPECT_EQ(CountingPlatform::pauses, 127U);
    EXPECT_EQ(CountingPlatform::yields, 16U);
    EXPECT_TRUE(backoff.isLong());
}

TEST_F(BackoffTest, SleepsAlsoIfTheLongestNapIsZero) {
    BasicBackoff<CountingPlatform> impatient(std::chrono::microseconds(0));
    for (int i = 0; i < 7 + 16 + 34; ++i) {  // all pauses, yields and short naps
        impatient.wait();
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) {
        impatient.wait();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(2));
}

static_assert(sizeof(SpinLock) == 1);
static_assert(!std::is_copy_constructible_v<SpinLock> && !std::is_move_constructible_v<SpinLock>);

// Compiles only if the lock is usable before any dynamic initialisation.
struct ConstantInitialised {
    constexpr ConstantInitialised() noexcept = default;
    SpinLock lock;
};
static_assert(std::is_nothrow_default_constructible_v<ConstantInitialised>);

TEST(SpinLockTest, WorksWithTheStandardGuards) {
    SpinLock first;
    SpinLock second;
    {
        const std::scoped_lock both(first, second);
        EXPECT_FALSE(first.try_lock());
        EXPECT_FALSE(second.try_lock());
    }
    std::unique_lock<SpinLock> guard(first, std::try_to_lock);
    EXPECT_TRUE(guard.owns_lock());
    EXPECT_FALSE(first.try_lock());
}

// Another thread takes the lock just after it was seen free, and unlocks when the loser yields.
struct OvertakingPlatform : StdPlatform {
    template <class T>
    struct Atomic : std::atomic<T> {
        constexpr Atomic(T value) noexcept : std::atomic<T>(value) {}

        T load(std::memory_order order) const noexcept {
            const T seen = std::atomic<T>::load(order);
            if (!seen && overtakes > 0) {
                --overtakes;
                const_cast<Atomic*>(this)->store(true, std::memory_order_relaxed);
            }
            return seen;
        }
    };
    static void pause() noexcept {}
    static void yield() noexcept { held->unlock(); }

    inline static BasicSpinLock<OvertakingPlatform>* held = nullptr;
    inline static int overtakes = 0;
};

TEST(SpinLockTest, LosesToAThreadThatArrivesBetweenLoadAndExchange) {
    BasicSpinLock<OvertakingPlatform> lock;
    OvertakingPlatform::held = &lock;

    OvertakingPlatform::overtakes = 1;
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();

    lock.lock();
    OvertakingPlatform::overtakes = 3;
    lock.lock();
    EXPECT_EQ(OvertakingPlatform::overtakes, 0);
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
}

#if defined(__linux__)
bool stayOnFirstProcessor() {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    return pthread_setaffinity_np(pthread_self(), sizeof first, &first) == 0;
}

bool becomeRealTime() {
    sched_param parameters{};
    parameters.sched_priority = 1;
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0 &&
           stayOnFirstProcessor();
}

// The holder shares a processor with a real-time thread, and runs only while this thread sleeps.
TEST(SpinLockTest, RealTimeWaiterLetsThePreemptedHolderRun) {
    const test::Watchdog watchdog([](std::FILE*) {});
    SpinLock lock;
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isRefused{false};
    std::atomic<bool> isUnlocked{false};
    long sleeps = 0;
    {
        test::Crew crew;
        crew.add([&] {
            isRefused = !stayOnFirstProcessor();
            const std::lock_guard<SpinLock> guard(lock);
            isHeld = true;
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
            while (std::chrono::steady_clock::now() < end && !isRefused) {
            }
            isUnlocked = true;
        });
        crew.add([&] {
            test::awaitThat([&] { return isHeld.load(); });
            if (!becomeRealTime()) {
                isRefused = true;
            }
            rusage before{};
            ::getrusage(RUSAGE_THREAD, &before);
            const std::lock_guard<SpinLock> guard(lock);
            EXPECT_TRUE(isUnlocked);
            rusage after{};
            ::getrusage(RUSAGE_THREAD, &after);
            sleeps = after.ru_nvcsw - before.ru_nvcsw;
        });
    }
    if (isRefused) {
        GTEST_SKIP() << "no real-time priorities here";
    }
    EXPECT_GT(sleeps, 0) << "the holder ran only by the system's limit for real-time threads";
}
#endif

#ifndef NDEBUG
TEST(SpinLockDeathTest, UnlockWithoutLockAsserts) {
    SpinLock lock;
    EXPECT_DEATH(lock.unlock(), "without lock");
}
#endif

}  // namespace
}  // namespace sluice
