#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/timer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

// Timers of an object: most tests move the clock by hand.

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;
using Log = std::vector<std::string>;
using Milliseconds = std::chrono::milliseconds;

template <std::size_t Count>
struct WithTimers : ActorTraits {
    static constexpr std::size_t maxTimers = Count;
};

template <std::size_t Count>
using ByHand = ManualTraits<WithTimers<Count>>;
using Clock = ByHand<1>::Platform::Clock;

/// An object whose clock the test moves.
template <std::size_t Count>
class Timed : public Keeper<ByHand<Count>> {
public:
    Timed() { Clock::reset(); }
    void advance(Milliseconds by) {
        Clock::advance(by);
        (void)this->handleQueued();
    }
    using Keeper<ByHand<Count>>::handleQueued;
};

TEST(TimerTest, FiresOnceWhenItsTimeHasCome) {
    Timed<2> object;
    const Timer timer = object.postAfter(10ms, Add{1});
    EXPECT_TRUE(timer);
    EXPECT_NE(timer, Timer());
    object.advance(9ms);
    EXPECT_EQ(object.log, Log{});
    object.advance(1ms);
    EXPECT_EQ(object.log, Log{"1"});
    object.advance(1000ms);
    EXPECT_EQ(object.log, Log{"1"});
    EXPECT_FALSE(object.cancel(timer));
    EXPECT_EQ(object.firedTimers(), 1U);
}

TEST(TimerTest, FireInTheOrderOfTheirTimesAndThenOfTheirStart) {
    Timed<6> object;
    EXPECT_TRUE(object.postAfter(30ms, Add{3}));
    EXPECT_TRUE(object.postAfter(10ms, Add{1}));
    EXPECT_TRUE(object.postAt(Clock::now() + 20ms, Add{2}));
    EXPECT_TRUE(object.postAfter(20ms, Note{"after 2"}, {Priority::high}));
    EXPECT_TRUE(object.postAfter(20ms, Note{"then"}));
    object.advance(30ms);
    EXPECT_EQ(object.log, (Log{"1", "2", "after 2 high", "then medium", "3"}));
}

TEST(TimerTest, TimesInThePastMeanAtOnce) {
    Timed<3> object;
    EXPECT_TRUE(object.postAfter(0ms, Add{1}));
    EXPECT_TRUE(object.postAfter(-5ms, Add{2}));
    EXPECT_TRUE(object.postAt(Clock::time_point::min(), Add{3}));
    EXPECT_EQ(object.handleQueued(), 3U);
    EXPECT_EQ(object.log, (Log{"3", "1", "2"}));
}

TEST(TimerTest, HugeTimesDoNotOverflow) {
    Timed<4> object;
    EXPECT_TRUE(object.postAfter(std::chrono::hours::max(), Add{1}));
    EXPECT_TRUE(object.postEvery(std::chrono::hours::max(), Add{2}));
    EXPECT_TRUE(object.postEveryFrom(Clock::time_point::min(), std::chrono::hours::max(), Add{3}));
    EXPECT_TRUE(object.postEveryFrom(Clock::time_point::min(), 1ms, Add{4}));
    object.advance(1ms);
    EXPECT_EQ(object.log, (Log{"3", "4"}));
    object.advance(1ms);
    EXPECT_EQ(object.log, (Log{"3", "4", "4"}));
}

TEST(TimerTest, PeriodsAreCountedFromTheFirstTimeHoweverLateTheHandlerIs) {
    Timed<1> object;
    EXPECT_TRUE(object.postEvery(10ms, Add{1}));
    object.advance(14ms);  // at 14 instead of 10
    EXPECT_EQ(object.log.size(), 1U);
    object.advance(5ms);  // 19
    EXPECT_EQ(object.log.size(), 1U);
    object.advance(1ms);  // 20
    EXPECT_EQ(object.log.size(), 2U);
    object.advance(35ms);  // 55: 30, 40 and 50 are one
    EXPECT_EQ(object.log.size(), 3U);
    object.advance(4ms);  // 59
    EXPECT_EQ(object.log.size(), 3U);
    object.advance(1ms);  // 60
    EXPECT_EQ(object.log.size(), 4U);
}

TEST(TimerTest, PeriodsMayBeginAtAnyTime) {
    Timed<1> object;
    EXPECT_TRUE(object.postEveryFrom(Clock::now() + 3ms, 10ms, Add{1}));
    object.advance(3ms);
    object.advance(9ms);
    EXPECT_EQ(object.log.size(), 1U);
    object.advance(1ms);
    EXPECT_EQ(object.log.size(), 2U);
}

TEST(TimerTest, CancelledTimersDoNotFireAndGiveTheirPlaceBack) {
    Timed<2> object;
    for (int round = 0; round < 5; ++round) {
        const Timer once = object.postAfter(1ms, Add{1});
        const Timer often = object.postEvery(1ms, Add{2});
        ASSERT_TRUE(once && often);
        EXPECT_FALSE(object.postAfter(1ms, Add{3}));  // there are two already
        if (round % 2 == 0) {
            (void)object.handleQueued();  // the object knows them when they are cancelled
        }
        EXPECT_TRUE(object.cancel(once));
        EXPECT_FALSE(object.cancel(once));
        EXPECT_TRUE(object.cancel(often));
        EXPECT_FALSE(object.cancel(often));
        object.advance(5ms);
    }
    EXPECT_EQ(object.log, Log{});
    EXPECT_FALSE(object.cancel(Timer()));
}

TEST(TimerTest, OldTimersDoNotNameTheNextOneInTheirPlace) {
    Timed<1> object;
    const Timer first = object.postAfter(1ms, Add{1});
    object.advance(1ms);
    const Timer second = object.postAfter(1ms, Add{2});
    EXPECT_NE(first, second);
    EXPECT_FALSE(object.cancel(first));
    object.advance(1ms);
    EXPECT_EQ(object.log, (Log{"1", "2"}));
}

/// Acts in the handlers of its timers.
class Clockwork : public ActiveObject<Clockwork, Messages<int>, ByHand<4>> {
public:
    Clockwork() { Clock::reset(); }
    void handle(const int& action, const Header& header) {
        times.push_back(header.timeStamp.time_since_epoch() / 1ms);
        ids.push_back(header.id);
        if (action == 1) {
            EXPECT_TRUE(cancel(timer));  // itself
            EXPECT_FALSE(cancel(timer));
        } else if (action == 2) {
            EXPECT_FALSE(cancel(timer));  // it fires once, so it has ended
            EXPECT_TRUE(postAfter(0ms, 0));
        } else if (action == 3) {
            for (int i = 0; i < 100; ++i) {  // more than there are timers
                Timer later = postAfter(1ms, 0);
                EXPECT_TRUE(later);
                EXPECT_TRUE(cancel(later));
            }
        }
#if defined(__cpp_exceptions)
        if (action == 4) {
            throw std::runtime_error("handler of a timer");
        }
#endif
    }
    using ActiveObject::handleQueued;

    Timer timer;
    std::vector<std::int64_t> times;
    std::vector<std::uint64_t> ids;
};

TEST(TimerTest, MayBeCancelledInItsOwnHandler) {
    Clockwork object;
    object.timer = object.postEvery(1ms, 1);
    Clock::advance(1ms);
    EXPECT_EQ(object.handleQueued(), 1U);
    Clock::advance(1ms);
    EXPECT_EQ(object.handleQueued(), 0U);
}

/// Its only timer is cancelled and replaced by the handler that the timer has called.
class Replacing : public ActiveObject<Replacing, Messages<std::string>, ByHand<1>> {
public:
    Replacing() { Clock::reset(); }
    void handle(const std::string& text, const Header& header) {
        log.push_back(text);
        times.push_back(header.timeStamp.time_since_epoch() / 1ms);
        if (log.size() == 1) {
            EXPECT_TRUE(cancel(timer));
            EXPECT_FALSE(postAfter(1000ms, std::string("too early, and too long to lie inside")));
            EXPECT_EQ(text, "the message of the timer that has been cancelled");
        }
    }
    using ActiveObject::handleQueued;

    Timer timer;
    Log log;
    std::vector<std::int64_t> times;
};

TEST(TimerTest, AHandlerThatCancelsItsTimerKeepsItsMessage) {
    Replacing object;
    object.timer =
        object.postEvery(1ms, std::string("the message of the timer that has been cancelled"));
    Clock::advance(1ms);
    EXPECT_EQ(object.handleQueued(), 1U);
    // Now the place is free, and the next timer has its own time.
    ASSERT_TRUE(object.postAfter(1000ms, std::string("later")));
    Clock::advance(999ms);
    EXPECT_EQ(object.handleQueued(), 0U);
    Clock::advance(1ms);
    EXPECT_EQ(object.handleQueued(), 1U);
    EXPECT_EQ(object.times, (std::vector<std::int64_t>{1, 1001}));
}

TEST(TimerTest, WithoutDelayItFiresInTheNextRound) {
    Clockwork object;
    object.timer = object.postAfter(0ms, 2);
    EXPECT_EQ(object.handleQueued(), 1U);
    EXPECT_EQ(object.handleQueued(), 1U);
    EXPECT_EQ(object.handleQueued(), 0U);
}

TEST(TimerTest, HandlersMayStartAndCancelMoreTimersThanThereAre) {
    Clockwork object;
    ASSERT_EQ(object.post(3), SendResult::ok);
    EXPECT_EQ(object.handleQueued(), 1U);
    ASSERT_TRUE(object.postAfter(0ms, 3));
    EXPECT_EQ(object.handleQueued(), 1U);
}

/// Notes when each of many timers fires.
class TenThousand : public ActiveObject<TenThousand, Messages<int>, ByHand<10000>> {
public:
    TenThousand() { Clock::reset(); }
    void handle(const int& due, const Header& header) {
        EXPECT_EQ(header.timeStamp.time_since_epoch() / 1ms, due);
        EXPECT_LE(last, due);
        last = due;
        ++fired;
    }
    using ActiveObject::handleQueued;
    int last = 0;
    int fired = 0;
};

TEST(TimerTest, TenThousandFireInOrderOrAreCancelledByOtherThreads) {
    constexpr int count = 10000;
    const auto object = std::make_unique<TenThousand>();
    std::vector<Timer> timers;
    for (int i = 0; i < count; ++i) {
        const int due = i * 7919 % count;
        timers.push_back(object->postAfter(Milliseconds(due), int{due}));
        ASSERT_TRUE(timers.back());
    }
    EXPECT_FALSE(object->postAfter(1ms, 1));
    std::thread canceller([&] {
        for (int i = 0; i < count; i += 2) {
            EXPECT_TRUE(object->cancel(timers[static_cast<std::size_t>(i)]));
        }
    });
    canceller.join();
    for (int i = 0; i < count; i += 100) {
        Clock::advance(100ms);
        while (object->handleQueued() != 0) {
        }
    }
    EXPECT_EQ(object->fired, count / 2);
    EXPECT_TRUE(object->postAfter(1ms, 1)) << "their places are free";
}

TEST(TimerTest, HeadersTellTheTimeAndHowOftenItHasFired) {
    Clockwork object;
    EXPECT_TRUE(object.postEvery(10ms, 0));
    for (int i = 0; i < 3; ++i) {
        Clock::advance(11ms);
        (void)object.handleQueued();
    }
    EXPECT_EQ(object.times, (std::vector<std::int64_t>{10, 20, 30}));
    EXPECT_EQ(object.ids, (std::vector<std::uint64_t>{0, 1, 2}));
}

#if defined(__cpp_exceptions)
TEST(TimerTest, HandlersMayThrow) {
    Clockwork object;
    EXPECT_TRUE(object.postEvery(1ms, 4));
    EXPECT_TRUE(object.postAfter(1ms, 4));
    Clock::advance(1ms);
    (void)object.handleQueued();
    (void)object.handleQueued();
    EXPECT_EQ(object.failures(), 2U);
    Clock::advance(1ms);
    (void)object.handleQueued();
    EXPECT_EQ(object.failures(), 3U);
    EXPECT_EQ(object.firedTimers(), 3U);
}

/// Throws when it is copied.
struct Explosive {
    Explosive() = default;
    Explosive(const Explosive&) { throw std::runtime_error("copy"); }
    Explosive& operator=(const Explosive&) = delete;
};
class Taker : public ActiveObject<Taker, Messages<Explosive, int>, ByHand<1>> {
public:
    void handle(const Explosive&) {}
    void handle(const int&) {}
};

TEST(TimerTest, MessagesThatCannotBeCopiedStartNothing) {
    Taker object;
    const Explosive explosive;
    EXPECT_THROW((void)object.postAfter(1ms, explosive), std::runtime_error);
    EXPECT_TRUE(object.postAfter(1ms, 1));  // the only place is free
}
#endif

TEST(TimerTest, MessagesLiveUntilTheTimerHasEnded) {
    struct Holder : ActiveObject<Holder, Messages<std::shared_ptr<int>>, ByHand<3>> {
        void handle(const std::shared_ptr<int>& value) { sum += *value; }
        using ActiveObject::handleQueued;
        int sum = 0;
    };
    const auto value = std::make_shared<int>(7);
    {
        Holder object;
        EXPECT_TRUE(object.postAfter(1ms, value));
        const Timer often = object.postEvery(1ms, value);
        EXPECT_TRUE(object.postAfter(1h, value));
        EXPECT_EQ(value.use_count(), 4);
        Clock::advance(1ms);
        EXPECT_EQ(object.handleQueued(), 2U);
        EXPECT_EQ(value.use_count(), 3);
        EXPECT_TRUE(object.cancel(often));
        (void)object.handleQueued();
        EXPECT_EQ(value.use_count(), 2);
        EXPECT_EQ(object.sum, 14);
    }
    EXPECT_EQ(value.use_count(), 1);
}

TEST(TimerTest, ClosedObjectsStartNone) {
    Timed<1> object;
    object.stop();
    EXPECT_FALSE(object.postAfter(0ms, Add{1}));
    EXPECT_EQ(object.firedTimers(), 0U);
}

TEST(TimerTest, ManyDueTimersLeaveTurnsToMessages) {
    Timed<1000> object;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(object.postAfter(1ms, Add{i}));
    }
    Clock::advance(1ms);
    const std::size_t first = object.handleQueued();
    EXPECT_LT(first, 1000U);
    ASSERT_EQ(object.post(Note{"between"}), SendResult::ok);
    while (object.handleQueued() != 0) {
    }
    ASSERT_EQ(object.log.size(), 1001U);
    EXPECT_EQ(object.log[first], "between medium");
    EXPECT_EQ(object.log.back(), "999");
}

// ---- With a thread of its own

/// Counts the messages of its timers.
class Counter : public ActiveObject<Counter, Messages<Add>, WithTimers<4>> {
public:
    void handle(const Add& add) {
        const auto before = sum.fetch_add(add.value, std::memory_order_release);
        if (before + add.value >= 3) {
            (void)cancel(timer);
        }
    }
    void await(int value) const {
        while (sum.load(std::memory_order_acquire) < value) {
            std::this_thread::yield();
        }
    }
    Timer timer;
    std::atomic<int> sum{0};
};

TEST(TimerThreadTest, WakesTheThreadAtTheDeadlineAndForAnEarlierOne) {
    const Watchdog watchdog([](std::FILE*) {});
    Counter object;
    ASSERT_TRUE(object.start());
    const Timer never = object.postAfter(1h, Add{100});
    ASSERT_TRUE(never);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(object.postAfter(2ms, Add{1}));
    object.await(1);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
    EXPECT_TRUE(object.cancel(never));
    object.stop();
    EXPECT_TRUE(object.join());
    EXPECT_EQ(object.sum, 1);
}

TEST(TimerThreadTest, PeriodicTimersGoOnUntilTheyAreCancelled) {
    const Watchdog watchdog([](std::FILE*) {});
    Counter object;
    object.timer = object.postEvery(1us, Add{1});  // before the start
    ASSERT_TRUE(object.start());
    object.await(3);
    object.stop();
    EXPECT_TRUE(object.join());
    EXPECT_EQ(object.sum, 3);
}

TEST(TimerThreadTest, DrainingDoesNotWaitForTimers) {
    const Watchdog watchdog([](std::FILE*) {});
    Counter object;
    ASSERT_TRUE(object.start());
    ASSERT_TRUE(object.postEvery(1h, Add{1}));
    ASSERT_EQ(object.post(Add{1}), SendResult::ok);
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_TRUE(object.join());
    EXPECT_EQ(object.sum, 1);
}

}  // namespace
}  // namespace sluice
