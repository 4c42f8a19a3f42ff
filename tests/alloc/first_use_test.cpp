#include "support/allocation_count.hpp"
#include "support/sanitizers.hpp"

#include <sluice/eventpp/pool_queue_list.hpp>
#include <sluice/memory/pooled.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

// ThreadSanitizer follows no forks of programs with several threads.
#if defined(__linux__) && !SLUICE_TEST_TSAN

#include "support/forks.hpp"

namespace sluice::test {
namespace {

struct Message final : Pooled<Message> {
    int content = 0;
};

std::atomic<bool> isUsed{false};
std::atomic<bool> hasForked{false};

/// The first use of an object that exists once in a program is stopped where it allocates, while
/// another thread forks. Afterwards the child uses the object, too.
template <class Use>
[[noreturn]] void forkDuringFirstUse(Use use) {
    std::thread thread([&] {
        callBeforeAllocations([]() noexcept {
            isUsed = true;
            while (!hasForked) {
                std::this_thread::yield();
            }
        });
        use();
        isUsed = true;
    });
    while (!isUsed) {
        std::this_thread::yield();
    }
    const bool isRight = isTrueInChild([&] { return use(), true; });
    hasForked = true;
    thread.join();
    std::_Exit(isRight ? 7 : 1);
}

#if defined(SLUICE_TEST_EMULATED)
constexpr bool startsAgain = false;  // the emulator cannot start the program again
#else
constexpr bool startsAgain = true;
#endif

TEST(FirstUseDeathTest, AThreadMayForkDuringThatOfAPooledClass) {
    if (!startsAgain) {
        GTEST_SKIP();
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a program that has not used it before
    EXPECT_EXIT(forkDuringFirstUse([] { (void)Pooled<Message>::resource(); }),
                testing::ExitedWithCode(7), "");
}

TEST(FirstUseDeathTest, AThreadMayForkDuringThatOfAPoolQueueList) {
    if (!startsAgain) {
        GTEST_SKIP();
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(forkDuringFirstUse([] { (void)PoolQueueAllocator<Message, 8>::pool(); }),
                testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sluice::test

#endif
