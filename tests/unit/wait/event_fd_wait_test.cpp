#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/event_fd_wait.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <sys/epoll.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;

static_assert(!std::is_copy_constructible_v<EventFdWait>);
static_assert(std::is_same_v<EventFdWait::Clock, StdPlatform::Clock>);
static_assert(noexcept(std::declval<EventFdWait&>().notifyAll()));
static_assert(detail::canNotifyOne<EventFdWait>, "one freed slot wakes one blocked producer");

bool isReadable(int descriptor) {
    pollfd wanted{descriptor, POLLIN, 0};
    return ::poll(&wanted, 1, 0) == 1;
}

class EventFdWaitTest : public testing::Test {
protected:
    /// A wait that gives up at once.
    bool poll() {
        return strategy.waitUntil([this] { return isReady; }, EventFdWait::Clock::now());
    }

    EventFdWait strategy;
    bool isReady = false;
};

TEST_F(EventFdWaitTest, DescriptorIsMadeOnceAndNotInherited) {
    const int descriptor = strategy.descriptor();
    ASSERT_GE(descriptor, 0);
    EXPECT_EQ(strategy.descriptor(), descriptor);
    EXPECT_FALSE(isReadable(descriptor));
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(EventFdWaitTest, NotificationAfterAWaitInVainMakesItReadable) {
    const int descriptor = strategy.descriptor();
    strategy.notifyAll();
    EXPECT_FALSE(isReadable(descriptor)) << "nobody has waited";
    EXPECT_FALSE(poll());
    EXPECT_FALSE(isReadable(descriptor)) << "nothing has come";
    strategy.notifyOne();
    EXPECT_TRUE(isReadable(descriptor));
    EXPECT_TRUE(isReadable(descriptor)) << "it stays so";
    EXPECT_FALSE(poll());
    EXPECT_FALSE(isReadable(descriptor)) << "until the next wait";
}

TEST_F(EventFdWaitTest, ManyNotificationsWriteOnce) {
    const int descriptor = strategy.descriptor();
    EXPECT_FALSE(poll());
    for (int i = 0; i < 100; ++i) {
        strategy.notifyAll();
    }
    std::uint64_t writes = 0;
    ASSERT_EQ(::read(descriptor, &writes, sizeof writes), static_cast<ssize_t>(sizeof writes));
    EXPECT_EQ(writes, 1U);
}

TEST_F(EventFdWaitTest, WaitThatSucceedsDoesNotArm) {
    const int descriptor = strategy.descriptor();
    isReady = true;
    EXPECT_TRUE(poll());
    strategy.notifyAll();
    EXPECT_FALSE(isReadable(descriptor));
    EXPECT_TRUE(strategy.waitUntil([] { return true; }, EventFdWait::Clock::time_point::max()));
    strategy.notifyAll();
    EXPECT_FALSE(isReadable(descriptor));
}

// ---- Events at critical moments

using Scripted = BasicEventFdWait<test::ScriptedPlatform, test::ScriptedParker>;

TEST(EventFdWaitScriptTest, ChangeThatComesWhileArmingIsSeenByTheCheckOrReadable) {
    Script script;
    Scripted strategy;
    const int descriptor = strategy.descriptor();
    bool isReady = false;
    script.onHeavyFence = [&] {
        isReady = true;
        strategy.notifyAll();
    };
    EXPECT_TRUE(strategy.waitUntil([&] { return isReady; }, at(0)));
    EXPECT_TRUE(isReadable(descriptor)) << "it was armed: one wake-up for nothing";
    isReady = false;
    script.onHeavyFence = nullptr;
    EXPECT_FALSE(strategy.waitUntil([&] { return isReady; }, at(0)));
    EXPECT_FALSE(isReadable(descriptor));
}

TEST(EventFdWaitScriptTest, WaitThatSleptInVainArmsToo) {
    Script script;
    Scripted strategy;
    const int descriptor = strategy.descriptor();
    script.onPark = [&] { script.now += 100ns; };
    EXPECT_FALSE(strategy.waitUntil([] { return false; }, at(100)));
    EXPECT_EQ(script.timedParks.size(), 1U);
    strategy.notifyAll();
    EXPECT_TRUE(isReadable(descriptor));
}

TEST(EventFdWaitScriptTest, WithoutADescriptorItIsAPark) {
    Script script;
    Scripted strategy;
    script.onPark = [&] { script.now += 100ns; };
    EXPECT_FALSE(strategy.waitUntil([] { return false; }, at(100)));
    EXPECT_EQ(script.heavyFences, 1) << "the announcement to sleep, and no arming";
    EXPECT_EQ(script.timedParks.size(), 1U);
}

// ---- A notifier that is stopped on its way to the descriptor

/// Calls the hook where a notifier takes an arming: the thread could be stopped there.
template <class T>
struct StoppingAtomic : std::atomic<T> {
    using Base = std::atomic<T>;
    using Base::Base;

    T exchange(T value, std::memory_order order) noexcept {
        const T before = Base::exchange(value, order);
        stop();
        return before;
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
        stop();
        return Base::compare_exchange_strong(expected, desired, success, failure);
    }

    static void stop() {
        if (const auto call = std::exchange(onTaking, nullptr)) {
            call();
        }
    }
    inline static std::function<void()> onTaking;
};

struct StoppingPlatform : StdPlatform {
    template <class T>
    using Atomic = std::conditional_t<std::is_same_v<T, std::uint32_t>, StoppingAtomic<T>,
                                      StdPlatform::Atomic<T>>;
};

TEST(EventFdWaitStopTest, ALaterNotifierWakesTheLoop) {
    BasicEventFdWait<StoppingPlatform> strategy;
    const int descriptor = strategy.descriptor();
    EXPECT_FALSE(strategy.waitUntil([] { return false; }, EventFdWait::Clock::now()));
    bool wasStopped = false;
    StoppingAtomic<std::uint32_t>::onTaking = [&] {
        wasStopped = true;
        strategy.notifyAll();
        EXPECT_TRUE(isReadable(descriptor)) << "the later notification is lost";
    };
    strategy.notifyAll();
    EXPECT_TRUE(wasStopped);
}

// The loop goes on and arms the descriptor again before the notifier goes on.
TEST(EventFdWaitStopTest, ANotifierThatComesLateTakesNoLaterArming) {
    BasicEventFdWait<StoppingPlatform> strategy;
    const int descriptor = strategy.descriptor();
    const auto waitInVain = [&] {
        EXPECT_FALSE(strategy.waitUntil([] { return false; }, EventFdWait::Clock::now()));
    };
    waitInVain();
    StoppingAtomic<std::uint32_t>::onTaking = waitInVain;
    strategy.notifyAll();
    EXPECT_FALSE(isReadable(descriptor)) << "it was cleared";
    strategy.notifyAll();
    EXPECT_TRUE(isReadable(descriptor)) << "the second arming is still there";
}

// ---- Two threads and a real loop

/// A loop that watches one descriptor.
class Loop {
public:
    Loop(int descriptor, std::uint32_t events) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        epoll_event event{};
        event.events = events;
        EXPECT_EQ(::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event), 0);
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() { ::close(epoll_); }

    void sleepUntilReadable() const {
        epoll_event event{};
        while (::epoll_wait(epoll_, &event, 1, -1) != 1) {
        }
    }

private:
    int epoll_;
};

class EventFdLoopTest : public testing::TestWithParam<bool> {};

TEST_P(EventFdLoopTest, NoWakeUpIsLost) {
    constexpr int turns = static_cast<int>(test::scaled(2000));
    EventFdWait strategy;
    const Loop loop(strategy.descriptor(), GetParam() ? EPOLLIN | EPOLLET : EPOLLIN);
    std::atomic<int> asked{0};
    std::atomic<int> answered{0};
    const test::Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "asked %d, answered %d\n", asked.load(), answered.load());
    });
    std::thread other([&] {
        for (int turn = 1; turn <= turns; ++turn) {
            asked.store(turn, std::memory_order_release);
            strategy.notifyAll();
            while (answered.load(std::memory_order_acquire) != turn) {
                std::this_thread::yield();
            }
        }
    });
    const auto isAsked = [&] {
        return asked.load(std::memory_order_acquire) > answered.load(std::memory_order_relaxed);
    };
    while (answered.load(std::memory_order_relaxed) != turns) {
        if (strategy.waitUntil(isAsked, EventFdWait::Clock::now())) {
            answered.store(asked.load(std::memory_order_acquire), std::memory_order_release);
        } else {
            loop.sleepUntilReadable();
        }
    }
    other.join();
    EXPECT_EQ(asked.load(), turns);
}

INSTANTIATE_TEST_SUITE_P(Triggers, EventFdLoopTest, testing::Bool(),
                         [](const auto& edge) { return edge.param ? "Edge" : "Level"; });

}  // namespace
}  // namespace sluice

#endif
