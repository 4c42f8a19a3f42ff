#include <sluice/base/detail/fork_gate.hpp>
#include <sluice/base/detail/futex_lock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>

namespace sluice {
namespace {

/// Each reading of the clock is a tenth of a second later than the one before.
struct HastyPlatform : StdPlatform {
    struct Clock : std::chrono::steady_clock {
        static time_point now() noexcept {
            passed += std::chrono::milliseconds(100);
            return time_point(passed);
        }
        inline static duration passed{0};
    };
};

using Gate = detail::BasicForkGate<HastyPlatform, detail::FutexLock>;

TEST(ForkGateTest, ThreadThatNeverLeavesAndForkThatNeverEndsStopNobody) {
    Gate gate;
    Gate::Thread forker;
    Gate::Thread worker;
    Gate::Pass pass{0};
    const int mutex = 0;
    const auto enter = [&] {
        if (Gate::enter(worker, pass, &mutex) == 0) {
            gate.admit(worker, pass, &mutex, 7, [] { return true; });
        }
    };
    enter();
    EXPECT_EQ(pass, 7U);
    gate.close(forker);
    EXPECT_EQ(pass, 0U);
    Gate::leave(worker);
    enter();
    EXPECT_EQ(pass, 7U) << "and it waits once";
    EXPECT_EQ(worker.inside, &mutex);
    gate.remove(worker, 7);
}

TEST(ForkGateTest, ChildForgetsTheThreadsThatAreGone) {
    Gate gate;
    Gate::Thread forker;
    Gate::Thread worker;
    Gate::Pass forkersPass{0};
    Gate::Pass workersPass{0};
    const int mutex = 0;
    gate.admit(forker, forkersPass, &mutex, 1, [] { return true; });
    Gate::leave(forker);
    gate.admit(worker, workersPass, &mutex, 2, [] { return true; });
    gate.close(forker);
    EXPECT_EQ(forkersPass, 1U) << "a later handler of fork() may lock";
    gate.lock().lock();  // by a thread that is gone
    gate.forgetOthers(forker, forkersPass);
    EXPECT_EQ(forkersPass, 0U) << "its number has changed";
    gate.awaitOthers(forker, &mutex);
    EXPECT_NE(forker.link, nullptr);
    EXPECT_EQ(forker.next, nullptr);
    const auto before = HastyPlatform::Clock::passed;
    gate.admit(forker, forkersPass, &mutex, 3, [] { return false; });
    EXPECT_EQ(HastyPlatform::Clock::passed - before, std::chrono::milliseconds(100))
        << "it waits for a fork that is over";
    gate.remove(forker, 3);
}

TEST(ForkGateTest, ThreadsMayEndInAnyOrder) {
    Gate gate;
    const Gate::Thread forker;
    std::array<Gate::Thread, 3> threads;
    std::array<Gate::Pass, 3> passes{};
    const int mutex = 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
        gate.admit(threads[i], passes[i], &mutex, i + 1, [] { return true; });
        Gate::leave(threads[i]);
    }
    for (const std::uint32_t i : {1U, 2U, 0U}) {
        gate.remove(threads[i], i + 1);
    }
    gate.close(forker);
    EXPECT_EQ(passes[0], 1U) << "it is still in the list";
    EXPECT_EQ(passes[1], 2U);
    EXPECT_EQ(passes[2], 3U);
}

TEST(ForkGateTest, ThreadMayEndWhenTheListIsOver) {
    Gate gate;
    const Gate::Thread forker;
    std::array<Gate::Thread, 2> threads;
    std::array<Gate::Pass, 2> passes{};
    const int mutex = 0;
    for (std::uint32_t i = 0; i < 2; ++i) {
        gate.admit(threads[i], passes[i], &mutex, i + 1, [] { return true; });
        Gate::leave(threads[i]);
    }
    gate.removeAll(Gate::Guard(gate.lock()));
    gate.remove(threads[1], 2);
    gate.close(forker);
    EXPECT_EQ(passes[0], 1U) << "it is in the list again";
}

}  // namespace
}  // namespace sluice
