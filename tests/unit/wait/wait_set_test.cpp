
#include <sluice/bus.hpp>
#include <sluice/event.hpp>
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice {

static bool operator==(const WaitSet::Ready& left, const WaitSet::Ready& right) {
    return left.source == right.source && left.isOver == right.isOver;
}

namespace {

using namespace std::chrono_literals;
using Ready = WaitSet::Ready;
using Clock = WaitSet::Clock;

struct Text {
    std::string text;
};
struct BusTraits : FullBusTraits {
    using Wait = WaitSet::Member;
};
using TextBus = Bus<Messages<Text>, BusTraits>;

struct ThreadsOfSet : MultipleThreading {
    using Wait = WaitSet::Member;
};
struct EventPolicies {
    using Threading = ThreadsOfSet;
};
using Events = EventQueue<int, void(int), EventPolicies>;
template <class Ring>
using Queue = BlockingQueue<Ring, WaitSet::Member>;

// ---- One suite for all sources: a source carries numbers, and `taken` has those that were
// handled.

template <class Ring>
struct QueueSource {
    Queue<Ring> queue;
    std::vector<int> taken;

    auto poll() {
        return
            [this] { return queue.tryConsume([this](int number) { taken.push_back(number); }, 2); };
    }
    void send(int number) { EXPECT_EQ(queue.push(number), SendResult::ok); }
    auto& object() { return queue; }
};
template <class Lanes>
struct LanesSource {
    Queue<Lanes> queue{64};
    decltype(queue.producer()) producer = queue.producer();
    std::vector<int> taken;

    auto poll() {
        return
            [this] { return queue.tryConsume([this](int number) { taken.push_back(number); }, 2); };
    }
    void send(int number) { EXPECT_EQ(producer.push(number), SendResult::ok); }
    auto& object() { return queue; }
};
struct BusSource {
    std::vector<int> taken;
    TextBus bus;
    Subscription subscription =
        bus.subscribe<Text>([this](const Text& text) { taken.push_back(std::stoi(text.text)); });

    auto poll() {
        return [this] { return bus.process(2); };
    }
    void send(int number) { EXPECT_EQ(bus.publish(Text{std::to_string(number)}), SendResult::ok); }
    auto& object() { return bus; }
};
struct EventSource {
    std::vector<int> taken;
    Events events;
    EventSource() {
        events.appendListener(1, [this](int number) { taken.push_back(number); });
    }

    auto poll() {
        return [this] { return events.processOne(); };
    }
    void send(int number) { EXPECT_TRUE(events.enqueue(1, number)); }
    auto& object() { return events; }
};

template <class Source>
class WaitSetSourceTest : public testing::Test {
protected:
    WaitSet set;
    Source source;
};
using Sources = testing::Types<QueueSource<SpscRing<int, 64>>, QueueSource<MpscRing<int, 64>>,
                               QueueSource<MpmcRing<int, 64>>, QueueSource<OverwriteRing<int, 256>>,
                               LanesSource<MpscLanes<int>>, LanesSource<MpmcLanes<int>>, BusSource,
                               EventSource>;
TYPED_TEST_SUITE(WaitSetSourceTest, Sources);

TYPED_TEST(WaitSetSourceTest, MessageFromAnotherThreadWakesTheSet) {
    this->set.add(this->source.object(), this->source.poll());
    std::thread sender([this] {
        for (int number = 0; number < 200; ++number) {
            this->source.send(number);
            if (number % 10 == 0) {
                std::this_thread::yield();
            }
        }
        this->source.object().close();
    });
    Ready ready;
    std::size_t turns = 0;
    while ((ready = this->set.wait()) && !ready.isOver) {
        EXPECT_EQ(ready.source, 0U);
        ++turns;
    }
    sender.join();
    EXPECT_TRUE(ready.isOver) << "closed and drained";
    EXPECT_EQ(this->set.size(), 0U);
    EXPECT_FALSE(this->set.wait()) << "no source is left";
    EXPECT_GE(turns, 100U) << "a batch in a turn";
    ASSERT_EQ(this->source.taken.size(), 200U);
    EXPECT_EQ(this->source.taken.back(), 199);
}

TYPED_TEST(WaitSetSourceTest, MessagesBeforeTheAdditionAreFound) {
    this->source.send(7);
    this->set.add(this->source.object(), this->source.poll());
    EXPECT_EQ(this->set.waitFor(0s), (Ready{0, false}));
    EXPECT_EQ(this->source.taken, std::vector<int>{7});
    EXPECT_FALSE(this->set.waitFor(1ms));
}

TYPED_TEST(WaitSetSourceTest, SleepsWhileNothingHappens) {
    int polls = 0;
    this->set.add(this->source.object(),
                  [&, poll = this->source.poll()] { return ++polls, poll(); });
    this->source.send(1);
    EXPECT_TRUE(this->set.wait());
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(this->set.waitFor(2ms));
    }
    EXPECT_LT(polls, 20 * 100) << "it does not wake itself";
}

// ---- Turns, removal, timers

class WaitSetTest : public testing::Test {
protected:
    using Numbers = Queue<SpscRing<int, 64>>;

    static auto taking(Numbers& queue) {
        return [&queue] { return queue.tryConsume([](int) {}, 1); };
    }
    static void fill(Numbers& queue, int count) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(queue.push(i), SendResult::ok);
        }
    }

    WaitSet set;
    Numbers first;
    Numbers second;
};

TEST_F(WaitSetTest, BusySourcesTakeTurns) {
    int third = 2;
    set.add(first, taking(first));
    set.add(second, taking(second));
    set.add([&] { return third-- > 0; });
    fill(first, 5);
    fill(second, 3);
    std::vector<WaitSet::Source> order;
    while (const Ready ready = set.waitFor(0s)) {
        order.push_back(ready.source);
    }
    EXPECT_EQ(order, (std::vector<WaitSet::Source>{0, 1, 2, 0, 1, 2, 0, 1, 0, 0}));
}

TEST_F(WaitSetTest, PlainSourceIsPolledAfterANotification) {
    Latest<int, 1> latest;
    int seen = 0;
    set.add([&] { return latest.hasNew() && (seen = *latest.update()) != 0; });
    std::thread writer([&] {
        std::this_thread::sleep_for(5ms);
        (void)latest.set(8);
        set.notify();
    });
    EXPECT_TRUE(set.wait());
    writer.join();
    EXPECT_EQ(seen, 8);
}

TEST_F(WaitSetTest, PollThatSendsToAPolledSourceWakesTheSet) {
    set.add(first, taking(first));
    bool isSent = false;
    set.add([&] {
        if (!std::exchange(isSent, true)) {
            fill(first, 1);
        }
        return false;
    });
    EXPECT_EQ(set.wait(), (Ready{0, false}));
}

TEST_F(WaitSetTest, DestroyedSourceLeavesTheSet) {
    auto gone = std::make_unique<Numbers>();
    set.add(*gone, taking(*gone));
    set.add(second, taking(second));
    fill(*gone, 1);
    gone.reset();
    EXPECT_EQ(set.size(), 1U);
    fill(second, 1);
    EXPECT_EQ(set.wait(), (Ready{1, false}));
    EXPECT_FALSE(set.waitFor(0s));
}

TEST_F(WaitSetTest, PollsRemoveAddAndDestroySources) {
    auto gone = std::make_unique<Numbers>();
    int polls = 0;
    set.add([&] {
        ++polls;
        gone.reset();
        set.remove(0);
        set.remove(0);
        set.add(second, taking(second));
        return false;
    });
    set.add(*gone, taking(*gone));
    fill(*gone, 1);
    fill(second, 1);
    EXPECT_EQ(set.wait(), (Ready{2, false}));
    EXPECT_EQ(polls, 1);
    EXPECT_EQ(set.size(), 1U);
    set.remove(2);
    EXPECT_FALSE(set.wait()) << "the set is empty";
    set.add(second, taking(second));  // again
    fill(second, 1);
    EXPECT_EQ(set.wait(), (Ready{3, false}));
}

TEST_F(WaitSetTest, PollDestroysItsOwnSource) {
    auto gone = std::make_unique<Numbers>();
    set.add(*gone, [&] {
        gone.reset();
        return false;
    });
    EXPECT_FALSE(set.waitFor(0s));
    EXPECT_EQ(set.size(), 0U);
}

TEST_F(WaitSetTest, PollsOwnTheirSources) {
    WaitSet owner;
    for (int i = 0; i < 3; ++i) {
        auto owned = std::make_shared<Numbers>();
        const auto source = owner.add(*owned, [owned] { return taking(*owned)(); });
        if (i != 1) {
            owner.remove(source);
        }
    }
    EXPECT_EQ(owner.size(), 1U);
}

#if defined(__cpp_exceptions)
TEST_F(WaitSetTest, ExceptionOfAPollEndsTheWaitAndItsTurn) {
    set.add([]() -> bool { throw 5; });
    set.add(first, taking(first));
    set.addTimer(Clock::now(), [] { throw 6; });
    fill(first, 1);
    EXPECT_THROW((void)set.wait(), int);
    EXPECT_EQ(set.wait(), (Ready{1, false}));
    EXPECT_THROW((void)set.wait(), int) << "the timer";
    set.remove(0);
    EXPECT_EQ(set.size(), 1U) << "the timer has left the set";
}

TEST_F(WaitSetTest, NegativePeriodIsRefused) {
    try {
        set.addTimer(
            Clock::now(), [] {}, -5ns);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "WaitSet: ticks of a period below zero: 5, limit 0");
    }
    EXPECT_EQ(set.size(), 0U);
}
#endif

TEST_F(WaitSetTest, TimerFiresOnceAndLeaves) {
    int calls = 0;
    const auto due = Clock::now() + 5ms;
    set.addTimer(due, [&] { ++calls; });
    set.add(first, taking(first));
    EXPECT_FALSE(set.waitFor(0s));
    EXPECT_EQ(set.wait(), (Ready{0, true}));
    EXPECT_GE(Clock::now(), due);
    EXPECT_FALSE(set.waitFor(0s));
    EXPECT_EQ(calls, 1);
}

TEST_F(WaitSetTest, TimerRepeatsAndLeavesOutMissedCalls) {
    int calls = 0;
    const auto begin = Clock::now();
    set.addTimer(
        begin, [&] { ++calls; }, 4ms);
    EXPECT_EQ(set.wait(), (Ready{0, false}));
    EXPECT_EQ(set.wait(), (Ready{0, false}));
    EXPECT_GE(Clock::now(), begin + 4ms);
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(set.waitFor(0s), (Ready{0, false}));
    EXPECT_FALSE(set.waitFor(0s)) << "missed calls are left out";
    EXPECT_EQ(calls, 3);
}

TEST_F(WaitSetTest, PollMaySetATimerThatIsDueBeforeTheLimit) {
    bool isSet = false;
    set.add([&] {
        if (!std::exchange(isSet, true)) {
            set.addTimer(Clock::now() + 2ms, [] {});
        }
        return false;
    });
    EXPECT_EQ(set.wait(), (Ready{1, true}));
}

TEST_F(WaitSetTest, LongestTimesDoNotOverflow) {
    set.addTimer(
        Clock::now(), [] {}, Clock::duration::max());
    EXPECT_EQ(set.waitFor(std::chrono::hours::max()), (Ready{0, false}));
    set.addTimer(Clock::time_point::min(), [] {});
    EXPECT_EQ(set.waitFor(0s), (Ready{1, true}));
    EXPECT_FALSE(set.waitFor(-1h));
    EXPECT_FALSE(set.waitUntil(Clock::time_point::min()));
}

#if defined(__cpp_exceptions) && !defined(NDEBUG)
class WaitSetDeathTest : public WaitSetTest {};

TEST_F(WaitSetDeathTest, MisuseIsReported) {
    EXPECT_DEATH(
        {
            Numbers queue;
            WaitSet early;
            early.add(queue, taking(queue));
        },
        "destroy the sources of a WaitSet before the WaitSet");
    EXPECT_DEATH(
        {
            WaitSet other;
            set.add(first, taking(first));
            other.add(first, taking(first));
        },
        "a source is in one WaitSet");
    EXPECT_DEATH(
        {
            set.add([this] { return bool(set.wait()); });
            (void)set.wait();
        },
        "a second thread, or a poll, waits");
}
#endif

}  // namespace
}  // namespace sluice
