#include "support/crew.hpp"
#include "support/dice.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/detail/object_timers.hpp>
#include <sluice/actor/detail/timer_slots.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/timer.hpp>
#include <sluice/base/platform.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {
namespace ownThread {

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
    EXPECT_TRUE(object.postAfter(20ms, Note{"after 2"}));
    EXPECT_TRUE(object.postAfter(20ms, Note{"high"}, Priority::high));
    object.advance(30ms);
    EXPECT_EQ(object.log, (Log{"high high", "1", "2", "after 2 medium", "3"}));
}

TEST(TimerTest, AHighBeatComesBetweenTwoMessages) {
    class Beating : public ActiveObject<Beating, Messages<Add>, ByHand<1>> {
    public:
        void handle(const Add& add) {
            Clock::advance(add.value == 0 ? 0ms : 5ms);
            log.push_back(add.value);
        }
        using ActiveObject::handleQueued;
        std::vector<int> log;
    };
    Clock::reset();
    Beating object;
    ASSERT_TRUE(object.postEvery(20ms, Add{0}, Priority::high));
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(object.post(Add{1}), SendResult::ok);
    }
    while (object.handleQueued() != 0) {
    }
    EXPECT_EQ(object.log, (std::vector<int>{1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1}));
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

/// Acts in the handlers of its timers.
class Clockwork : public ActiveObject<Clockwork, Messages<int>, ByHand<4>> {
public:
    Clockwork() { Clock::reset(); }
    void handle(const int& action, const Header& header) {
        times.push_back(header.timeStamp.time_since_epoch() / 1ms);
        ids.push_back(header.id);
        if (action == 3) {
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

    std::vector<std::int64_t> times;
    std::vector<std::uint64_t> ids;
};

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

TEST(TimerTest, HandlersMayStartAndCancelMoreTimersThanThereAre) {
    Clockwork object;
    ASSERT_EQ(object.post(3), SendResult::ok);
    EXPECT_EQ(object.handleQueued(), 1U);
    ASSERT_TRUE(object.postAfter(0ms, 3));
    EXPECT_EQ(object.handleQueued(), 1U);
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
    void handle(const Add& add) { sum.fetch_add(add.value, std::memory_order_release); }
    void await(int value) const {
        test::awaitThat([&] { return sum.load(std::memory_order_acquire) >= value; });
    }
    std::atomic<int> sum{0};
};

using TimerThreadTest = test::GuardedTest;
TEST_F(TimerThreadTest, WakesTheThreadAtTheDeadlineAndForAnEarlierOne) {
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

TEST_F(TimerThreadTest, DrainingDoesNotWaitForTimers) {
    Counter object;
    ASSERT_TRUE(object.start());
    ASSERT_TRUE(object.postEvery(1h, Add{1}));
    ASSERT_EQ(object.post(Add{1}), SendResult::ok);
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_TRUE(object.join());
    EXPECT_EQ(object.sum, 1);
}

}  // namespace ownThread

namespace shared {

using namespace std::chrono_literals;

struct WithTimers : PooledTraits {
    static constexpr std::size_t maxTimers = 2;
};
struct Tick {};

class Timed : public PooledObject<Timed, Messages<Tick>, WithTimers> {
public:
    explicit Timed(const Executor& executor) : executor_(executor) {}
    void handle(const Tick&) { ticks.push_back((executor_.now() - Executor::TimePoint()) / 1ms); }
    std::vector<long long> ticks;  ///< milliseconds

private:
    const Executor& executor_;
};
using Ticks = std::vector<long long>;

/// Each message takes 5 ms.
class Slow : public PooledObject<Slow, Messages<int>, WithTimers> {
public:
    explicit Slow(ManualExecutor& executor) : executor_(executor) {}
    void handle(const int& value) {
        const auto isOver = [] { return false; };
        const auto time = value == 0 ? 0ms : 5ms;
        (void)executor_.runUntil(isOver, executor_.now() + time);
        log.push_back(value);
    }
    std::vector<int> log;

private:
    ManualExecutor& executor_;
};

TEST(PooledTimerLifeTest, AHighBeatComesBetweenTwoMessages) {
    ManualExecutor executor;
    Running<Slow> object(executor, executor);
    ASSERT_TRUE(object.postEvery(20ms, 0, {Priority::high}));
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(object.post(1), SendResult::ok);
    }
    executor.runAll();
    EXPECT_EQ(object.log, (std::vector<int>{1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1}));
}

class PooledTimerTest : public testing::Test {
protected:
    ManualExecutor executor_;
    Running<Timed> object_{executor_, executor_};
};

TEST_F(PooledTimerTest, FireAtTheirTimes) {
    EXPECT_TRUE(object_.postAfter(30ms, Tick{}));
    EXPECT_TRUE(object_.postAfter(10ms, Tick{}));
    EXPECT_FALSE(object_.postAfter(5ms, Tick{})) << "there are two";
    executor_.runFor(9ms);
    EXPECT_EQ(object_.ticks, Ticks{});
    executor_.runFor(20ms);
    EXPECT_EQ(object_.ticks, Ticks{10});
    EXPECT_TRUE(object_.postAfter(0ms, Tick{}));
    EXPECT_EQ(executor_.runAll(), 1U);
    EXPECT_EQ(object_.ticks, (Ticks{10, 29}));
    executor_.runFor(1h);
    EXPECT_EQ(object_.ticks, (Ticks{10, 29, 30}));
    EXPECT_EQ(object_.firedTimers(), 3U);
    EXPECT_EQ(object_.statistics().handled, 3U);
}

struct OneTimer : PooledTraits {
    static constexpr std::size_t maxTimers = 1;
};
class Blinker : public PooledObject<Blinker, Messages<Tick>, OneTimer> {
public:
    void handle(const Tick&) { next = postAfter(1s, Tick{}); }
    Timer next;
};

TEST(PooledTimerLifeTest, AHandlerMayStartTheNextOfASingleTimer) {
    ManualExecutor executor;
    Running<Blinker> blinker(executor);
    ASSERT_TRUE(blinker.postAfter(1s, Tick{}));
    executor.runFor(10s);
    EXPECT_EQ(blinker.firedTimers(), 10U);
    EXPECT_FALSE(blinker.postAfter(1s, Tick{})) << "the next one is started";
    EXPECT_TRUE(blinker.cancel(blinker.next));
}

TEST_F(PooledTimerTest, AnEarlierOneMovesTheAlarm) {
    EXPECT_TRUE(object_.postAfter(30ms, Tick{}));
    executor_.runFor(1ms);
    EXPECT_TRUE(object_.postAfter(9ms, Tick{}));
    executor_.runFor(100ms);
    EXPECT_EQ(object_.ticks, (Ticks{10, 30}));
}

TEST(PooledTimerLifeTest, BeforeTheStartThereAreNone) {
    ManualExecutor executor;
    Timed object(executor);
    EXPECT_FALSE(object.postAfter(1ms, Tick{}));
}

}  // namespace shared

namespace heaps {

using Heap = detail::DeadlineHeap<std::chrono::nanoseconds, 64>;

TEST(DeadlineHeapTest, AgreesWithASortedMapWhateverIsInsertedAndRemoved) {
    Heap heap;
    std::map<std::pair<int, int>, Heap::Index> model;  // by deadline, then insertion
    std::vector<std::pair<int, int>> keyOf(64);
    test::Dice dice(7);
    for (int step = 0; step < 20000; ++step) {
        const auto index = static_cast<Heap::Index>(dice() % 64);
        if (heap.contains(index)) {
            heap.remove(index);
            model.erase(keyOf[index]);
        } else {
            keyOf[index] = {static_cast<int>(dice() % 20), step};
            heap.insert(index, std::chrono::nanoseconds(keyOf[index].first));
            model.emplace(keyOf[index], index);
        }
        ASSERT_EQ(heap.isEmpty(), model.empty());
        if (!model.empty()) {
            ASSERT_EQ(heap.first(), model.begin()->second);
            ASSERT_EQ(heap.earliest().count(), model.begin()->first.first);
        }
    }
}

}  // namespace heaps
}  // namespace
}  // namespace sluice

namespace sluice::detail {
namespace {

/// The word of a slot begins with the last generation that it can count.
struct OldPlatform : StdPlatform {
    template <class T>
    struct Atomic : std::atomic<T> {
        static constexpr T firstGeneration = 8;
        Atomic(T value = 0) noexcept
            : std::atomic<T>(std::is_same_v<T, CounterWord> && value == firstGeneration
                                 ? static_cast<T>(T{0} - firstGeneration)
                                 : value) {}
        using std::atomic<T>::operator=;
    };
};

TEST(TimerSlotsTest, ASlotBeginsAgainAfterItsLastGeneration) {
    TimerSlots<OldPlatform, int, 1> slots;
    const auto fire = [&] {
        slots.takeChanges(
            [&](auto index) {
                ASSERT_TRUE(slots.end(index));
                slots.destroyEntry(index);
            },
            [](auto) {});
    };
    const Timer last = slots.arm(1);
    EXPECT_TRUE(last);
    EXPECT_FALSE(slots.cancel(Timer()));
    fire();
    EXPECT_TRUE(slots.arm(2)) << "in the other slot";
    fire();
    const Timer first = slots.arm(3);
    EXPECT_TRUE(first);
    EXPECT_NE(first, last);
    EXPECT_FALSE(slots.cancel(last));
    EXPECT_FALSE(slots.cancel(Timer())) << "an empty Timer names no timer";
    fire();
}

/// Starts a timer in its destructor.
struct Successor {
    using Slots = TimerSlots<StdPlatform, Successor, 4>;
    Successor(Slots& startsIn, int follow) noexcept : slots(&startsIn), left(follow) { ++alive; }
    Successor(const Successor&) = delete;
    Successor& operator=(const Successor&) = delete;
    ~Successor() {
        --alive;
        if (left != 0) {
            (void)slots->arm(*slots, left - 1);
        }
    }
    inline static int alive = 0;
    Slots* slots;
    int left;
};

TEST(TimerSlotsTest, NoTimerStartsWhileTheyAreDestroyed) {
    {
        Successor::Slots slots;
        const Timer first = slots.arm(slots, 0);
        EXPECT_TRUE(first);
        EXPECT_TRUE(slots.arm(slots, 1));
        EXPECT_TRUE(slots.arm(slots, 1));
        EXPECT_TRUE(slots.cancel(first));
        slots.takeChanges([](auto) {}, [](auto) {});  // frees a slot that is destroyed first
    }
    EXPECT_EQ(Successor::alive, 0);
}

}  // namespace
}  // namespace sluice::detail
