#include <sluice/base/spin_lock.hpp>

#include "support/testing.hpp"

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

#ifndef NDEBUG
TEST(SpinLockDeathTest, UnlockWithoutLockAsserts) {
    SpinLock lock;
    EXPECT_DEATH(lock.unlock(), "without lock");
}
#endif

}  // namespace
}  // namespace sluice
