#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "support/watchdog.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

// Waiting for events. A lost wake-up makes these tests hang; the watchdog then tells where.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// The same policies with a wait strategy that tells when a thread has to wait.
template <class Base, class Inner>
struct Observed : Base {
    struct Threading : detail::ThreadingOf<Base> {
        using Mutex = detail::LockOf<detail::ThreadingOf<Base>>;
        using Wait = ObservedWait<Inner>;
    };
};

template <class Policies>
class EventQueueWaitTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(int), Policies>;
    /// Threads sleep, and poll before.
    using SleepingQueue = EventQueue<int, void(int), Observed<Policies, Park>>;
    /// Threads go on polling.
    using PollingQueue = EventQueue<int, void(int), Observed<Policies, SpinThenYield>>;

    /// Waits until polling waiters have found so often, from now on, that they have to go on.
    static void awaitRefusals(std::uint64_t count) {
        const std::uint64_t before = ObservedWait<SpinThenYield>::refusals();
        awaitThat([&] { return ObservedWait<SpinThenYield>::refusals() >= before + count; });
    }
    /// Waits until so many waiters, the first ones of the test, have no step left except to sleep.
    void awaitSleepers(std::uint64_t count) const {
        const Park::Options options;
        const std::uint64_t polls = count * (options.spins + options.yields + 1);
        awaitThat([&] { return ObservedWait<Park>::refusals() >= refusalsBefore + polls; });
    }

    const std::uint64_t refusalsBefore = ObservedWait<Park>::refusals();
    Watchdog watchdog{[](std::FILE*) {}};
};
TYPED_TEST_SUITE(EventQueueWaitTest, CommonSharedQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueWaitTest, WaitReturnsAtOnceWhenThereIsAnEventOrTheQueueIsClosed) {
    typename TestFixture::Queue queue;
    EXPECT_TRUE(queue.enqueue(1));
    queue.wait();
    EXPECT_TRUE(queue.waitFor(1h));
    queue.close();
    queue.wait();
    EXPECT_TRUE(queue.waitFor(1h));
    queue.clearEvents();
    queue.wait();
    EXPECT_FALSE(queue.waitFor(1h)) << "closed and empty";
}

TYPED_TEST(EventQueueWaitTest, WaitForAnEmptyQueueEndsInTime) {
    const typename TestFixture::Queue queue;
    EXPECT_FALSE(queue.waitFor(0ns));
    EXPECT_FALSE(queue.waitFor(-1h));
    EXPECT_FALSE(queue.waitFor(1us));
    EXPECT_FALSE(queue.waitFor(std::chrono::duration<double, std::milli>(0.5)));
}

TYPED_TEST(EventQueueWaitTest, AddingAnEventWakesWaiters) {
    typename TestFixture::SleepingQueue queue;
    std::atomic<int> events{0};
    Crew waiters;
    // Both may wake for the first event, which only one of them gets.
    waiters.add([&] {
        do {
            queue.wait();
        } while (!queue.processOne());
        ++events;
    });
    waiters.add([&] {
        do {
            EXPECT_TRUE(queue.waitFor(1h));
        } while (!queue.processOne());
        ++events;
    });
    waiters.start();
    this->awaitSleepers(2);
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_TRUE(queue.enqueue(2));
    waiters.join();
    EXPECT_EQ(events.load(), 2);
}

TYPED_TEST(EventQueueWaitTest, CloseWakesAllWaiters) {
    typename TestFixture::SleepingQueue queue;
    Crew waiters;
    for (int i = 0; i < 2; ++i) {
        waiters.add([&] { queue.wait(); });
        waiters.add([&] { EXPECT_FALSE(queue.waitFor(std::chrono::hours::max())); });
    }
    waiters.start();
    this->awaitSleepers(4);
    queue.close();
    waiters.join();
    EXPECT_TRUE(queue.isClosed());
}

TYPED_TEST(EventQueueWaitTest, CloseRefusesEventsAndLeavesThoseThatThereAre) {
    typename TestFixture::Queue queue;
    int sum = 0;
    queue.appendListener(1, [&](int number) { sum += number; });
    EXPECT_TRUE(queue.enqueue(1));
    queue.close();
    queue.close();
    EXPECT_FALSE(queue.enqueue(1));
    EXPECT_FALSE(queue.enqueue(1, 5));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 1);
    queue.dispatch(1);
    EXPECT_EQ(sum, 2) << "dispatching goes on";
}

TYPED_TEST(EventQueueWaitTest, WaitingWithoutALimitOfTimeReportsEventsInProcess) {
    typename TestFixture::Queue queue;
    int handled = 0;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayEnd{false};
    queue.appendListener(1, [&](int) {
        isInside = true;
        awaitThat([&] { return mayEnd.load(); });
        handled = 1;
    });
    EXPECT_TRUE(queue.enqueue(1));
    Crew consumer;
    consumer.add([&] { EXPECT_TRUE(queue.process()); });
    consumer.start();
    awaitThat([&] { return isInside.load(); });
    EXPECT_TRUE(queue.waitFor(0ns));
    EXPECT_FALSE(queue.emptyQueue());
    EXPECT_EQ(queue.sizeApprox(), 0U);
    mayEnd = true;
    while (queue.waitFor(0ns)) {
    }
    EXPECT_EQ(handled, 1) << "the listener has ended, and what it wrote is visible";
    EXPECT_TRUE(queue.emptyQueue());
}

TYPED_TEST(EventQueueWaitTest, ConsumersSleepWhileAnotherOneProcesses) {
    typename TestFixture::PollingQueue queue;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayEnd{false};
    std::atomic<bool> hasReturned{false};
    queue.appendListener(1, [&](int) {
        isInside = true;
        awaitThat([&] { return mayEnd.load(); });
    });
    EXPECT_TRUE(queue.enqueue(1));
    Crew consumers;
    consumers.add([&] { EXPECT_TRUE(queue.process()); });
    consumers.start();
    awaitThat([&] { return isInside.load(); });
    consumers.add([&] {
        queue.wait();
        hasReturned = true;
    });
    this->awaitRefusals(5);
    EXPECT_FALSE(hasReturned.load());
    EXPECT_TRUE(queue.enqueue(2));
    awaitThat([&] { return hasReturned.load(); });
    mayEnd = true;
}

TYPED_TEST(EventQueueWaitTest, EventsThatComeBackWakeWaiters) {
    typename TestFixture::SleepingQueue queue;
    EXPECT_TRUE(queue.enqueue(1));
    Crew waiters;
    EXPECT_FALSE(queue.processIf([&](int) {
        waiters.add([&] { queue.wait(); });
        waiters.start();
        this->awaitSleepers(1);
        return false;
    }));
    waiters.join();
    EXPECT_TRUE(queue.process());
}

// ---- DisableQueueNotify

template <class Queue>
using Silence = typename Queue::DisableQueueNotify;

TYPED_TEST(EventQueueWaitTest, EventsOfASilencedQueueAreReportedWhenTheSilenceEnds) {
    typename TestFixture::PollingQueue queue;
    std::atomic<int> rounds{0};
    Crew consumer;
    consumer.add([&] {
        while (!queue.isClosed()) {
            queue.wait();
            ++rounds;
            (void)queue.process();
        }
    });
    consumer.start();
    EXPECT_TRUE(queue.enqueue(1));
    queue.drain();
    EXPECT_TRUE(queue.enqueue(1));
    queue.drain();
    EXPECT_EQ(rounds.load(), 2);
    {
        const Silence<decltype(queue)> outer(&queue);
        {
            const Silence<decltype(queue)> inner(&queue);
            EXPECT_TRUE(queue.enqueue(1));
        }
        EXPECT_TRUE(queue.enqueue(2));
        this->awaitRefusals(3);
        EXPECT_EQ(rounds.load(), 2);
        EXPECT_FALSE(queue.emptyQueue());
        EXPECT_FALSE(queue.waitFor(0ns));
        EXPECT_FALSE(queue.waitFor(10us));
    }
    queue.drain();
    EXPECT_EQ(rounds.load(), 3) << "one round for both";
    queue.close();
}

TYPED_TEST(EventQueueWaitTest, EndOfTheSilenceWakesSleepers) {
    typename TestFixture::SleepingQueue queue;
    Crew waiters;
    {
        const Silence<decltype(queue)> silence(&queue);
        EXPECT_TRUE(queue.enqueue(1));
        for (int i = 0; i < 2; ++i) {
            waiters.add([&] { queue.wait(); });
        }
        waiters.start();
        this->awaitSleepers(2);
    }
    waiters.join();
    EXPECT_TRUE(queue.process());
}

TYPED_TEST(EventQueueWaitTest, ProcessingASilencedQueueGoesOn) {
    typename TestFixture::Queue queue;
    const Silence<decltype(queue)> silence(&queue);
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_TRUE(queue.process());
    queue.close();
    queue.wait();
    queue.run();
    EXPECT_TRUE(queue.emptyQueue());
}

// ---- many threads

TYPED_TEST(EventQueueWaitTest, ManyConsumersShareTheEventsOfOneProducer) {
    constexpr std::size_t events = 180;
    EventQueue<std::size_t, void(), TypeParam> queue;
    std::array<std::atomic<int>, events> calls{};
    std::atomic<bool> mayStop{false};
    for (std::size_t event = 0; event < events; ++event) {
        queue.appendListener(event, [&calls, event] { ++calls.at(event); });
    }
    Crew consumers;
    for (int i = 0; i < 90; ++i) {
        consumers.add([&] {
            while (!mayStop) {
                while (!queue.waitFor(10ms) && !mayStop) {
                }
                (void)queue.process();
            }
        });
    }
    consumers.start();
    for (std::size_t event = 0; event < events; ++event) {
        EXPECT_TRUE(queue.enqueue(event));
    }
    queue.drain();
    for (const auto& count : calls) {
        EXPECT_EQ(count.load(), 1);
    }
    mayStop = true;
}

TYPED_TEST(EventQueueWaitTest, ManyThreadsQueueAndThenProcess) {
    constexpr std::size_t threads = 32;
    constexpr std::size_t each = 256;
    EventQueue<std::size_t, void(std::size_t), TypeParam> queue;
    std::vector<std::atomic<int>> calls(threads * each);
    queue.appendListener(1, [&](std::size_t number) { ++calls.at(number); });
    Crew crew;
    for (std::size_t self = 0; self < threads; ++self) {
        crew.add([&, self] {
            for (std::size_t i = 0; i < each; ++i) {
                EXPECT_TRUE(queue.enqueue(1, self * each + i));
            }
            for (int i = 0; i < 10; ++i) {
                (void)queue.process();
            }
        });
    }
    crew.join();
    (void)queue.process();
    for (const auto& count : calls) {
        ASSERT_EQ(count.load(), 1);
    }
}

/// Counts the wake-ups of one thread and of all.
struct CountingWait : Park {
    void notifyOne() noexcept { ++ones; }
    void notifyAll() noexcept { ++alls; }
    inline static int ones = 0;
    inline static int alls = 0;
};
struct CountingPolicies {
    struct Threading : MultipleThreading {
        using Wait = CountingWait;
    };
};

TEST(EventQueueWakeTest, EventWakesOneConsumerAndRoomOneProducer) {
    EventQueue<int, void(int), CountingPolicies> queue({3, Overflow::block});
    const auto onesAfter = [](auto act) {
        CountingWait::ones = CountingWait::alls = 0;
        act();
        EXPECT_EQ(CountingWait::alls, 0);
        return CountingWait::ones;
    };
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(onesAfter([&] { EXPECT_TRUE(queue.enqueue(1)); }), 1);
    }
    EXPECT_EQ(onesAfter([&] { EXPECT_TRUE(queue.processOne()); }), 1);
    EXPECT_EQ(onesAfter([&] { EXPECT_TRUE(queue.processOne()); }), 1);
    CountingWait::alls = 0;
    EXPECT_TRUE(queue.processOne());
    EXPECT_EQ(CountingWait::alls, 1) << "threads that wait for rest";
}

}  // namespace
}  // namespace sluice
