#include "support/sanitizers.hpp"

#include <sluice/log/detail/lanes/thread_life.hpp>

#include <gtest/gtest.h>

#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sluice::log::detail {
namespace {

TEST(ThreadLife, OfNobodyIsNotOver) {
    ThreadLife life;
    EXPECT_FALSE(life.isOver());
    EXPECT_FALSE(life.isOver());
}

TEST(ThreadLife, IsNotOverWhileItLastsNorAfterItsEnd) {
    ThreadLife life;
    life.begin();
    std::thread([&life] { EXPECT_FALSE(life.isOver()); }).join();
    life.end();
    std::thread([&life] { EXPECT_FALSE(life.isOver()); }).join();
}

TEST(ThreadLife, MayBelongToOneThreadAfterTheOther) {
    ThreadLife life;
    for (int i = 0; i < 3; ++i) {
        std::thread([&life] {
            life.begin();
            life.end();
        }).join();
        EXPECT_FALSE(life.isOver());
    }
}

// Not under an emulator, which keeps books of its own about threads.
#if defined(__linux__) && !SLUICE_TEST_TSAN && !SLUICE_TEST_ASAN && !defined(SLUICE_TEST_EMULATED)

void* beginAndVanish(void* life) {
    static_cast<ThreadLife*>(life)->begin();
    ::syscall(SYS_exit, 0);
    return nullptr;
}

TEST(ThreadLife, IsOverOnceForEachThreadThatVanished) {
    ThreadLife life;
    for (int i = 0; i < 3; ++i) {
        pthread_t thread{};
        ASSERT_EQ(::pthread_create(&thread, nullptr, beginAndVanish, &life), 0);
        ASSERT_EQ(::pthread_join(thread, nullptr), 0);
        EXPECT_TRUE(life.isOver());
        EXPECT_FALSE(life.isOver());
    }
    life.begin();
    life.end();
}

#endif

}  // namespace
}  // namespace sluice::log::detail
