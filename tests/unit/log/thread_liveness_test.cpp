#include "support/sanitizers.hpp"

#include <sluice/log/detail/lanes/thread_liveness.hpp>

#include <gtest/gtest.h>

#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sluice::log::detail {
namespace {

TEST(ThreadLiveness, WithoutAThreadIsNotDead) {
    ThreadLiveness liveness;
    EXPECT_FALSE(liveness.hasDied());
    EXPECT_FALSE(liveness.hasDied());
}

TEST(ThreadLiveness, IsNotDeadBeforeNorAfterItsEnd) {
    ThreadLiveness liveness;
    liveness.begin();
    std::thread([&liveness] { EXPECT_FALSE(liveness.hasDied()); }).join();
    liveness.end();
    std::thread([&liveness] { EXPECT_FALSE(liveness.hasDied()); }).join();
}

TEST(ThreadLiveness, MayBelongToOneThreadAfterAnother) {
    ThreadLiveness liveness;
    for (int i = 0; i < 3; ++i) {
        std::thread([&liveness] {
            liveness.begin();
            liveness.end();
        }).join();
        EXPECT_FALSE(liveness.hasDied());
    }
}

// Not under an emulator, which keeps books of its own about threads.
#if defined(__linux__) && !SLUICE_TEST_TSAN && !SLUICE_TEST_ASAN && !defined(SLUICE_TEST_EMULATED)

void* beginAndVanish(void* liveness) {
    static_cast<ThreadLiveness*>(liveness)->begin();
    ::syscall(SYS_exit, 0);
    return nullptr;
}

TEST(ThreadLiveness, HasDiedOnceForEachThreadThatVanished) {
    ThreadLiveness liveness;
    for (int i = 0; i < 3; ++i) {
        pthread_t thread{};
        ASSERT_EQ(::pthread_create(&thread, nullptr, beginAndVanish, &liveness), 0);
        ASSERT_EQ(::pthread_join(thread, nullptr), 0);
        EXPECT_TRUE(liveness.hasDied());
        EXPECT_FALSE(liveness.hasDied());
    }
    liveness.begin();
    liveness.end();
}

#endif

}  // namespace
}  // namespace sluice::log::detail
