#include "support/crew.hpp"
#include "support/forks.hpp"
#include "support/real_time.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/asymmetric_fence.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace sluice {
namespace {

using namespace test;

/// Threads that call heavy() without a pause until the end of the scope.
class FencingThreads {
public:
    explicit FencingThreads(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            crew_.add([this] {
                while (!isOver_.load()) {
                    AsymmetricFence::heavy();
                    isRunning_.store(true);
                }
            });
        }
        crew_.start();
        awaitThat([this] { return isRunning_.load(); });
    }
    ~FencingThreads() { isOver_.store(true); }  // and crew_ joins
    FencingThreads(const FencingThreads&) = delete;
    FencingThreads& operator=(const FencingThreads&) = delete;

private:
    std::atomic<bool> isRunning_{false};
    std::atomic<bool> isOver_{false};
    Crew crew_;
};

// Another thread makes it likely that the kernel hands its lock to a preempted thread.
TEST(MembarrierRealTimeTest, PreemptedThreadLetsOneOfHigherPriorityFence) {
    const Watchdog watchdog([](std::FILE*) {});
    const FencingThreads ordinary(1);
    if (!callAtThreePriorities(scaled(40'000), [] { AsymmetricFence::heavy(); })) {
        GTEST_SKIP() << "no real-time priorities here, or a sanitizer";
    }
}

#if SLUICE_TEST_FORKS
TEST(MembarrierForkTest, ChildGetsTheTurnThatAThreadOfItsParentHas) {
    const FencingThreads threads(2);
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(isTrueInChild([] { return detail::MembarrierTurn().isMine(); }));
    }
}
#endif

TEST(MembarrierSignalTest, HandlerRunsWhenTheTurnIsOver) {
    static volatile std::sig_atomic_t wasMine;
    struct sigaction fence {};
    struct sigaction before {};
    fence.sa_handler = [](int) {
        wasMine = detail::MembarrierTurn().isMine() ? 1 : 0;
        AsymmetricFence::heavy();
    };
    ASSERT_EQ(::sigaction(SIGUSR1, &fence, &before), 0);
    wasMine = -1;
    {
        const detail::MembarrierTurn turn;
        ::raise(SIGUSR1);
        EXPECT_TRUE(turn.isMine());
        EXPECT_EQ(wasMine, -1);
    }
    EXPECT_EQ(wasMine, 1);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

#if defined(SYS_sched_setattr)
/// As in linux/sched/types.h, which does not compile beside <sched.h>.
struct SchedulingAttributes {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
};

// A yield of such a thread would take until its next period.
TEST(MembarrierRealTimeTest, AThreadWithDeadlinesIsRealTime) {
    bool isAllowed = false;
    bool isRealTime = false;
    std::thread([&] {
        SchedulingAttributes attributes{};
        attributes.size = sizeof attributes;
        attributes.policy = 6;
        attributes.runtime = 1'000'000;
        attributes.deadline = attributes.period = 10'000'000;
        isAllowed = ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
        isRealTime = detail::PriorityFutex::isRealTime();
    }).join();
    if (!isAllowed) {
        GTEST_SKIP() << "no deadlines here";
    }
    EXPECT_TRUE(isRealTime);
}
#endif

}  // namespace
}  // namespace sluice

#endif
