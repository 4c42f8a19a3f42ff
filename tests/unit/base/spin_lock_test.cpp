#include <sluice/base/pause.hpp>
#include <sluice/base/spin_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

static_assert(sizeof(SpinLock) == 1);
static_assert(!std::is_copy_constructible_v<SpinLock> && !std::is_move_constructible_v<SpinLock>);

// Compiles only when the lock is usable before any dynamic initialisation.
struct ConstantInitialised {
    constexpr ConstantInitialised() noexcept = default;
    SpinLock lock;
};
static_assert(std::is_nothrow_default_constructible_v<ConstantInitialised>);

TEST(SpinLockTest, TryLockTakesAFreeLockOnly) {
    SpinLock lock;
    ASSERT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST(SpinLockTest, LockExcludesTryLock) {
    SpinLock lock;
    lock.lock();
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

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
}

TEST(SpinLockTest, SectionsOfSeveralThreadsNeverOverlap) {
    constexpr int threads = 4;
    constexpr int rounds = 50000;
    SpinLock lock;
    int counter = 0;
    std::atomic<int> ready{0};
    std::vector<std::thread> crew;
    for (int i = 0; i < threads; ++i) {
        crew.emplace_back([&, useTryLock = i % 2 == 1] {
            ready.fetch_add(1);
            while (ready.load() != threads) {
                std::this_thread::yield();
            }
            for (int round = 0; round < rounds; ++round) {
                if (useTryLock) {
                    while (!lock.try_lock()) {
                        std::this_thread::yield();
                    }
                } else {
                    lock.lock();
                }
                const int seen = counter;
                cpuPause();
                counter = seen + 1;
                lock.unlock();
                for (int outside = round % 16; outside > 0; --outside) {
                    cpuPause();
                }
            }
        });
    }
    for (std::thread& thread : crew) {
        thread.join();
    }
    EXPECT_EQ(counter, threads * rounds);
}

// The holder is "preempted": it unlocks only when the waiter gives its processor away.
struct PreemptedHolder : StdPlatform {
    static void pause() noexcept { ++pauses; }
    static void yield() noexcept {
        if (++yields == 3) {
            held->unlock();
        }
    }

    inline static BasicSpinLock<PreemptedHolder>* held = nullptr;
    inline static unsigned pauses = 0;
    inline static unsigned yields = 0;
};

TEST(SpinLockTest, WaiterBacksOffAndThenYields) {
    BasicSpinLock<PreemptedHolder> lock;
    PreemptedHolder::held = &lock;
    lock.lock();
    EXPECT_EQ(PreemptedHolder::pauses, 0u) << "a free lock costs no pause";

    lock.lock();
    EXPECT_EQ(PreemptedHolder::pauses, 127u);
    EXPECT_EQ(PreemptedHolder::yields, 3u);
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
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

TEST(SpinLockTest, LosesToAThreadThatComesBetweenLookAndTake) {
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

#ifndef NDEBUG
TEST(SpinLockDeathTest, UnlockWithoutLockAsserts) {
    SpinLock lock;
    EXPECT_DEATH(lock.unlock(), "without lock");
}
#endif

}  // namespace
}  // namespace sluice
