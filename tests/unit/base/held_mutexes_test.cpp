#include "support/crew.hpp"
#include "support/forks.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/priority_mutex.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>

#if defined(__linux__)

namespace sluice {
namespace {

#if !SLUICE_TEST_TSAN
/// Threads that lock and unlock until the end of the scope. When the constructor returns, they have
/// begun. A thread that begins allocates, and ASan's allocator does not survive a fork meanwhile.
class Lockers {
public:
    template <class Work>
    explicit Lockers(Work work) {
        for (int i = 0; i < 2; ++i) {
            crew_.add([this, work] {
                ++begun_;
                while (!isOver_) {
                    work();
                }
            });
        }
        crew_.start();
        test::awaitThat([this] { return begun_ == 2; });
    }
    Lockers(const Lockers&) = delete;
    Lockers& operator=(const Lockers&) = delete;
    ~Lockers() { isOver_ = true; }

private:
    std::atomic<bool> isOver_{false};
    std::atomic<int> begun_{0};
    test::Crew crew_;
};

TEST(HeldMutexesTest, ChildFindsNoMutexLockedAndNothingHalfDone) {
    std::array<PriorityMutex, 2> mutexes;
    std::array<std::size_t, 2> first{};
    std::array<std::size_t, 2> second{};
    const Lockers lockers([&] {
        for (std::size_t i = 0; i < mutexes.size(); ++i) {
            const std::lock_guard<PriorityMutex> guard(mutexes[i]);
            ++first[i];
            std::atomic_signal_fence(std::memory_order_seq_cst);
            ++second[i];
        }
    });
    for (int round = 0; round < 300; ++round) {
        EXPECT_TRUE(test::isTrueInChild([&] {
            for (std::size_t i = 0; i < mutexes.size(); ++i) {
                const std::lock_guard<PriorityMutex> guard(mutexes[i]);
                if (first[i] != second[i]) {
                    return false;
                }
            }
            return true;
        })) << round;
    }
}

TEST(HeldMutexesTest, ForkWaitsForASectionInWhichAnotherMutexIsLocked) {
    PriorityMutex outer;
    PriorityMutex inner;
    std::size_t first = 0;
    std::size_t second = 0;
    const Lockers lockers([&] {
        const detail::ForkDelay delay;
        const std::lock_guard<PriorityMutex> guard(outer);
        ++first;
        inner.lock();
        inner.unlock();
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ++second;
    });
    for (int round = 0; round < 300; ++round) {
        EXPECT_TRUE(test::isTrueInChild([&] {
            return outer.try_lock() && inner.try_lock() && first == second;
        })) << round;
    }
}

// In the child of a process with threads, qemu-user aborts when a thread begins.
#if !defined(SLUICE_TEST_EMULATED)
TEST(HeldMutexesTest, ThreadsOfTheChildLockAndItsChildrenToo) {
    PriorityMutex mutex;
    const Lockers lockers([&] { const std::lock_guard<PriorityMutex> guard(mutex); });
    EXPECT_TRUE(test::isTrueInChild([&] {
        const Lockers own([&] { const std::lock_guard<PriorityMutex> guard(mutex); });
        bool isRight = true;
        for (int round = 0; round < 20; ++round) {
            isRight = isRight && test::isTrueInChild([&] {
                          const std::lock_guard<PriorityMutex> guard(mutex);
                          return true;
                      });
        }
        return isRight;
    }));
}
#endif

TEST(HeldMutexesTest, ThreadsMayEndAndForkAtOnce) {
    PriorityMutex mutex;
    const Lockers lockers(
        [&] { std::thread([&] { const std::lock_guard<PriorityMutex> guard(mutex); }).join(); });
    std::thread other([&] {
        for (int round = 0; round < 50; ++round) {
            EXPECT_TRUE(test::isTrueInChild([&] { return mutex.try_lock(); })) << round;
        }
    });
    for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(test::isTrueInChild([&] { return mutex.try_lock(); })) << round;
    }
    other.join();
}
#endif

/// Stops a thread between the two steps of unlock().
struct StoppingPlatform : StdPlatform {
    struct Fence {
        static void light() {
            AsymmetricFence::light();
            if (stops) {
                stops = false;
                hasLetGo = true;
                test::awaitThat([] { return mayGoOn.load(); });
                hasGoneOn = true;
            }
        }
        static void heavy() { AsymmetricFence::heavy(); }
    };
    inline static thread_local bool stops = false;
    inline static std::atomic<bool> hasLetGo{false};
    inline static std::atomic<bool> mayGoOn{false};
    inline static std::atomic<bool> hasGoneOn{false};
};

TEST(HeldMutexesTest, OwnerOfAMutexWaitsForAnUnlockThatHasLetGo) {
    BasicPriorityMutex<StoppingPlatform, detail::HeldMutexes> mutex;
    std::thread holder([&] {
        mutex.lock();
        StoppingPlatform::stops = true;
        mutex.unlock();
    });
    test::awaitThat([] { return StoppingPlatform::hasLetGo.load(); });
    std::atomic<bool> isWaiting{false};
    std::atomic<bool> hasWaited{false};
    std::thread owner([&] {
        EXPECT_TRUE(mutex.try_lock());
        mutex.unlock();
        isWaiting = true;
        mutex.awaitUnlocks();
        EXPECT_TRUE(StoppingPlatform::hasGoneOn) << "the mutex is still read";
        hasWaited = true;
    });
    test::awaitThat([&] { return isWaiting.load(); });
    for (int i = 0; i < 1000 && !hasWaited; ++i) {
        std::this_thread::yield();  // a chance to be wrong
    }
    StoppingPlatform::mayGoOn = true;
    holder.join();
    owner.join();
}

}  // namespace
}  // namespace sluice

#endif
