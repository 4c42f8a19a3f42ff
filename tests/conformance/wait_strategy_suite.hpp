#pragma once

#include "support/watchdog.hpp"

#include "support/testing.hpp"
#include <thread>

// The promises of every wait strategy. A strategy is default constructible and has
//
//     wait(ready), waitUntil(ready, deadline) -> bool, notifyAll(), Clock
//
// Instantiate with INSTANTIATE_TYPED_TEST_SUITE_P(<name>, WaitStrategyTest, <types>).

namespace sluice::test {

template <class Strategy>
class WaitStrategyTest : public testing::Test {
protected:
    using Clock = typename Strategy::Clock;

    static auto soon() { return Clock::now() + std::chrono::milliseconds{2}; }
    static auto later() { return Clock::now() + std::chrono::hours{1}; }

    void set(std::atomic<int>& variable, int value) {
        variable.store(value, std::memory_order_release);
        strategy.notifyAll();
    }
    void waitFor(const std::atomic<int>& variable, int value) {
        strategy.wait([&] { return variable.load(std::memory_order_acquire) == value; });
    }

    Strategy strategy;
};

TYPED_TEST_SUITE_P(WaitStrategyTest);

TYPED_TEST_P(WaitStrategyTest, ReadyAtOnceIsAskedOnce) {
    int asked = 0;
    const auto ready = [&] {
        ++asked;
        return true;
    };
    this->strategy.wait(ready);
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(this->strategy.waitUntil(ready, this->later()));
    EXPECT_EQ(asked, 2);
}

TYPED_TEST_P(WaitStrategyTest, SeesWhatWasWrittenBefore) {
    for (int round = 1; round <= 200; ++round) {
        int data = 0;
        std::atomic<int> value{0};
        std::thread notifier([&] {
            data = round;
            this->set(value, 1);
        });
        this->waitFor(value, 1);
        EXPECT_EQ(data, round);
        notifier.join();
    }
}

TYPED_TEST_P(WaitStrategyTest, WakesEveryWaiter) {
    constexpr int waiters = 4;
    std::atomic<int> arrived{0};
    std::atomic<int> value{0};
    std::vector<std::thread> crew;
    for (int i = 0; i < waiters; ++i) {
        crew.emplace_back([&, isTimed = i % 2 == 1] {
            const auto ready = [&] { return value.load(std::memory_order_acquire) == 1; };
            arrived.fetch_add(1, std::memory_order_relaxed);
            if (isTimed) {
                EXPECT_TRUE(this->strategy.waitUntil(ready, this->later()));
            } else {
                this->strategy.wait(ready);
            }
        });
    }
    while (arrived.load(std::memory_order_relaxed) != waiters) {
        std::this_thread::yield();
    }
    this->set(value, 1);
    for (std::thread& thread : crew) {
        thread.join();
    }
}

TYPED_TEST_P(WaitStrategyTest, TwoThreadsTakeTurns) {
    constexpr int turns = 1000;
    std::atomic<int> value{0};
    const Watchdog watchdog([&](std::FILE* out) { std::fprintf(out, "turn %d\n", value.load()); });
    std::thread other([&] {
        for (int turn = 1; turn < turns; turn += 2) {
            this->waitFor(value, turn);
            this->set(value, turn + 1);
        }
    });
    for (int turn = 0; turn < turns; turn += 2) {
        this->waitFor(value, turn);
        this->set(value, turn + 1);
    }
    other.join();
    EXPECT_EQ(value.load(), turns);
}

TYPED_TEST_P(WaitStrategyTest, TimedWaitFailsOnlyAfterTheDeadline) {
    for (int i = 0; i < 5; ++i) {
        const auto deadline = this->soon();
        int asked = 0;
        EXPECT_FALSE(this->strategy.waitUntil(
            [&] {
                ++asked;
                return false;
            },
            deadline));
        EXPECT_GE(TestFixture::Clock::now(), deadline);
        EXPECT_GE(asked, 1);
    }
}

TYPED_TEST_P(WaitStrategyTest, TimedWaitAsksAlthoughTheDeadlineHasPassed) {
    const auto now = TestFixture::Clock::now();
    for (const auto deadline :
         {now, now - std::chrono::hours{1}, TestFixture::Clock::time_point::min()}) {
        int asked = 0;
        EXPECT_TRUE(this->strategy.waitUntil([&] { return ++asked > 0; }, deadline));
        asked = 0;
        EXPECT_FALSE(this->strategy.waitUntil([&] { return ++asked < 0; }, deadline));
        EXPECT_EQ(asked, 1) << "one look, and no more";
    }
}

TYPED_TEST_P(WaitStrategyTest, TimedWaitEndsWhenReady) {
    for (const auto deadline : {this->later(), TestFixture::Clock::time_point::max()}) {
        std::atomic<int> value{0};
        std::thread notifier([&] { this->set(value, 1); });
        EXPECT_TRUE(this->strategy.waitUntil(
            [&] { return value.load(std::memory_order_acquire) == 1; }, deadline));
        notifier.join();
    }
}

TYPED_TEST_P(WaitStrategyTest, ReadyMayBeAnyCallable) {
    struct MoveOnly {
        bool operator()() { return ++calls == 2; }
        MoveOnly() = default;
        MoveOnly(MoveOnly&&) = delete;
        int calls = 0;
    };
    MoveOnly kept;
    kept.calls = 1;
    this->strategy.wait(kept);
    EXPECT_EQ(kept.calls, 2) << "used in place, not copied";
    kept.calls = 1;
    EXPECT_TRUE(this->strategy.waitUntil(kept, this->later()));
    EXPECT_EQ(kept.calls, 2);
}

REGISTER_TYPED_TEST_SUITE_P(WaitStrategyTest, ReadyAtOnceIsAskedOnce, SeesWhatWasWrittenBefore,
                            WakesEveryWaiter, TwoThreadsTakeTurns,
                            TimedWaitFailsOnlyAfterTheDeadline,
                            TimedWaitAsksAlthoughTheDeadlineHasPassed, TimedWaitEndsWhenReady,
                            ReadyMayBeAnyCallable);

#if defined(__cpp_exceptions)
template <class Strategy>
class WaitStrategyExceptions : public WaitStrategyTest<Strategy> {};

TYPED_TEST_SUITE_P(WaitStrategyExceptions);

TYPED_TEST_P(WaitStrategyExceptions, ExceptionOfReadyPassesThrough) {
    const auto throwing = []() -> bool { throw std::runtime_error("from ready"); };
    EXPECT_THROW(this->strategy.wait(throwing), std::runtime_error);
    EXPECT_THROW((void)this->strategy.waitUntil(throwing, this->later()), std::runtime_error);
    int asked = 0;
    const auto throwingLate = [&]() -> bool {
        return ++asked == 100 ? throw std::runtime_error("from ready") : false;
    };
    std::atomic<bool> isOver{false};
    std::thread notifier([&] {
        while (!isOver.load(std::memory_order_relaxed)) {
            this->strategy.notifyAll();
            std::this_thread::yield();
        }
    });
    EXPECT_THROW(this->strategy.wait(throwingLate), std::runtime_error);
    isOver.store(true, std::memory_order_relaxed);
    notifier.join();
    EXPECT_EQ(asked, 100);

    std::atomic<int> value{0};
    std::thread setter([&] { this->set(value, 1); });
    this->waitFor(value, 1);
    setter.join();
}
REGISTER_TYPED_TEST_SUITE_P(WaitStrategyExceptions, ExceptionOfReadyPassesThrough);
#endif

}  // namespace sluice::test
