#include "support/crew.hpp"

#include <sluice/base/priority_futex.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)

#include <atomic>
#include <cstdint>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sluice::detail {
namespace {

std::uint32_t numberFromTheSystem() {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

TEST(PriorityFutexTest, NumbersThreadsAsTheSystemDoes) {
    EXPECT_EQ(PriorityFutex::thisThread(), numberFromTheSystem());
    std::thread([] { EXPECT_EQ(PriorityFutex::thisThread(), numberFromTheSystem()); }).join();
    EXPECT_EQ(PriorityFutex::thisThread(), numberFromTheSystem());
}

TEST(PriorityFutexTest, NumbersTheChildOfAForkAnew) {
    const std::uint32_t parent = PriorityFutex::thisThread();
    const pid_t child = ::fork();
    if (child == 0) {
        const std::uint32_t mine = PriorityFutex::thisThread();
        ::_exit(mine == numberFromTheSystem() && mine != parent ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(PriorityFutex::thisThread(), parent);
}

TEST(PriorityFutexTest, TheNextOwnerSleepsUntilTheWordIsDisowned) {
    PriorityFutex::Word word{PriorityFutex::thisThread()};
    std::atomic<bool> isDisowned{false};
    std::thread next([&] {
        EXPECT_TRUE(PriorityFutex::own(word));
        EXPECT_TRUE(isDisowned.load());
        EXPECT_EQ(PriorityFutex::ownerOf(word.load()), PriorityFutex::thisThread());
        PriorityFutex::disown(word);
    });
    // The system marks the word when a thread sleeps for it.
    test::awaitThat([&] { return word.load() != PriorityFutex::thisThread(); });
    isDisowned.store(true);
    PriorityFutex::disown(word);
    next.join();
    EXPECT_EQ(word.load(), 0U);
}

TEST(PriorityFutexTest, RefusesAnOwnerThatIsNoThread) {
    // Threads have smaller numbers.
    PriorityFutex::Word word{0x3FFFFFFFU};
    EXPECT_FALSE(PriorityFutex::own(word));
}

}  // namespace
}  // namespace sluice::detail

#endif
