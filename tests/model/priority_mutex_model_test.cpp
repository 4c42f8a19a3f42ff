#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/priority_mutex.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>

// PriorityMutex as shipped, on a futex of the model. Its threads sleep at once. A holder that does
// not see the loan leaves a schedule in which nobody can go on.

namespace sluice::model {
namespace {

/// Like detail::HeldMutexes, except for the wake-up: a woken thread tries again. The system would
/// make the first sleeper the owner.
struct ModelPriorityFutex {
    using Word = Atomic<std::uint32_t>;
    static constexpr bool polls = false;
    static constexpr std::uint32_t sleeps = 1U << 31U;

    static std::uint32_t thisThread() noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(execution().thisThread());
        return static_cast<std::uint32_t>(address >> 3U) & 0x3FFFFFFFU;
    }
    static std::uint32_t enter(const void* /*mutex*/) noexcept { return thisThread(); }
    static void leave() noexcept {}
    static std::uint32_t ownerOf(std::uint32_t word) noexcept { return word & 0x3FFFFFFFU; }
    static bool isRealTime() noexcept { return true; }

    static bool own(Word& word, Site site = Site::here()) {
        for (;;) {
            std::uint32_t seen = word.load(std::memory_order_relaxed);
            if (seen == 0) {
                if (word.compare_exchange_strong(seen, thisThread(), std::memory_order_acquire,
                                                 std::memory_order_relaxed)) {
                    return true;
                }
            } else if ((seen & sleeps) != 0 ||
                       word.compare_exchange_strong(seen, seen | sleeps, std::memory_order_relaxed,
                                                    std::memory_order_relaxed)) {
                const std::uint32_t expected = seen | sleeps;
                execution().sleep(
                    word.id(), [expected](std::uint64_t newest) { return newest == expected; },
                    nullptr, site);
            }
        }
    }

    static void disown(Word& word, Site site = Site::here()) {
        if (ownerOf(word.load(std::memory_order_relaxed)) == thisThread()) {
            word.store(0, std::memory_order_release);
            execution().wake(word.id(), site);
        }
    }
};

using Lock = BasicPriorityMutex<ModelPlatform, ModelPriorityFutex>;

void twoLockers() {
    Lock lock;
    Plain<int> sum;
    const auto add = [&] {
        const std::lock_guard<Lock> guard(lock);
        sum.set(sum.get() + 1);
    };
    parallel(add, add);
    check(sum.get() == 2, "each section runs alone");
}

/// The holder comes back at once, so a waiter may ask for the loan of a section that is over.
void holderComesBack() {
    Lock lock;
    Plain<int> sum;
    const auto add = [&] {
        const std::lock_guard<Lock> guard(lock);
        sum.set(sum.get() + 1);
    };
    parallel([&] { add(), add(); }, add);
    check(sum.get() == 3, "each section runs alone");
}

void threeLockers() {
    Lock lock;
    Plain<int> sum;
    const auto add = [&] {
        const std::lock_guard<Lock> guard(lock);
        sum.set(sum.get() + 1);
    };
    parallel(add, add, add);
    check(sum.get() == 3, "each section runs alone");
}

/// The word alone, as FutexLock uses it.
void twoOwners() {
    ModelPriorityFutex::Word word{0};
    Plain<int> sum;
    const auto add = [&] {
        const std::uint32_t me = ModelPriorityFutex::thisThread();
        check(detail::ownWord<ModelPriorityFutex>(word, me), "the model has futexes");
        sum.set(sum.get() + 1);
        detail::disownWord<ModelPriorityFutex>(word, me);
    };
    parallel(add, add);
    check(sum.get() == 2, "each section runs alone");
}

TEST(PriorityMutexModelTest, SectionsExcludeEachOtherAndEveryWaiterGoesOn) {
    EXPECT_TRUE(holds(twoOwners));
    EXPECT_TRUE(holds(twoLockers));
    EXPECT_TRUE(holds(holderComesBack));
    EXPECT_TRUE(holds(threeLockers));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(PriorityMutexModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOrders("priority_mutex.hpp", {}, {twoLockers, threeLockers})));
    EXPECT_TRUE(survive({}, surveyOrders("priority_futex.hpp", {}, {twoOwners})));
}
#endif

}  // namespace
}  // namespace sluice::model
