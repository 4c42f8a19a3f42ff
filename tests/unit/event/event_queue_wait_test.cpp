#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "support/watchdog.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/wait/event_fd_wait.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

#if defined(__linux__)
#include <poll.h>
#endif

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
    awaitThat([&] { return queue.emptyQueue(); });
    EXPECT_TRUE(queue.enqueue(1));
    awaitThat([&] { return queue.emptyQueue(); });
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
    awaitThat([&] { return queue.emptyQueue(); });
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

TYPED_TEST(EventQueueWaitTest, FullQueueWakesSleepersDuringTheSilence) {
    typename TestFixture::SleepingQueue queue(EventQueueOptions{2, Overflow::block});
    Crew consumer;
    consumer.add([&] { queue.run(); });
    consumer.start();
    this->awaitSleepers(1);
    {
        const Silence<decltype(queue)> silence(&queue);
        for (int i = 0; i < 5; ++i) {
            EXPECT_TRUE(queue.enqueue(i)) << "a consumer makes room";
        }
    }
    queue.drain();
    EXPECT_EQ(queue.statistics().processed, 5U);
}

// ---- many threads

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

TEST(EventQueueWakeTest, EventWakesOneConsumerAndItsRoomOneProducer) {
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
    EXPECT_EQ(onesAfter([&] { EXPECT_TRUE(queue.processOne()); }), 1) << "a producer";
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(CountingWait::alls, 2) << "producers, and threads that wait for rest";
}

// ---- drain() and run(): until everything has been processed.

template <class Policies>
class EventQueueEndTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(int), Policies>;
    Watchdog watchdog{[](std::FILE*) {}};
};
TYPED_TEST_SUITE(EventQueueEndTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueEndTest, DrainClosesAndWaits) {
    typename TestFixture::Queue queue;
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_FALSE(queue.drainFor(0ns));
    EXPECT_FALSE(queue.enqueue(1)) << "drained means closed";
    EXPECT_FALSE(queue.drainFor(1us));
    queue.clearEvents();
    queue.drain();
    EXPECT_TRUE(queue.drainFor(0ns));
}

TYPED_TEST(EventQueueEndTest, RunProcessesWhatIsThereAndReturnsWhenTheQueueIsClosed) {
    typename TestFixture::Queue queue;
    std::vector<int> seen;
    queue.appendListener(1, [&](int number) {
        seen.push_back(number);
        if (number == 1) {
            EXPECT_TRUE(queue.enqueue(1, 3));
            queue.close();
            EXPECT_FALSE(queue.enqueue(1, 4));
        }
    });
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_TRUE(queue.enqueue(1, 2));
    queue.run();
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
    queue.run();
    EXPECT_TRUE(queue.emptyQueue());
}

/// Notes the sizes of the harvests that it is told.
struct NotingPacing {
    std::vector<std::size_t>* harvests;
    void polled(std::size_t count) const { harvests->push_back(count); }
};

TYPED_TEST(EventQueueEndTest, RunTellsThePacingTheSizeOfEachBatch) {
    typename TestFixture::Queue queue;
    queue.appendListener(1, [&](int) {
        EXPECT_TRUE(queue.enqueue(2));
        queue.close();
    });
    EXPECT_TRUE(queue.enqueue(2));
    EXPECT_TRUE(queue.enqueue(1));
    std::vector<std::size_t> harvests;
    queue.run(NotingPacing{&harvests});
    EXPECT_EQ(harvests, (std::vector<std::size_t>{2, 1}));
}

// ---- with other threads

template <class Policies>
class SharedEventQueueEndTest : public EventQueueEndTest<Policies> {};
TYPED_TEST_SUITE(SharedEventQueueEndTest, CommonSharedQueuePolicies, QueuePolicyNames);

TYPED_TEST(SharedEventQueueEndTest, DrainWaitsForTheLastListener) {
    typename TestFixture::Queue queue;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayEnd{false};
    int handled = 0;
    queue.appendListener(1, [&](int) {
        isInside = true;
        awaitThat([&] { return mayEnd.load(); });
        ++handled;
    });
    EXPECT_TRUE(queue.enqueue(1));
    Crew crew;
    crew.add([&] { EXPECT_TRUE(queue.process()); });
    crew.start();
    awaitThat([&] { return isInside.load(); });
    EXPECT_FALSE(queue.drainFor(1us));
    for (int i = 0; i < 3; ++i) {
        crew.add([&] {
            queue.drain();
            EXPECT_EQ(handled, 1);
        });
        crew.add([&] {
            EXPECT_TRUE(queue.drainFor(1h));
            EXPECT_EQ(handled, 1);
        });
    }
    mayEnd = true;
    crew.join();
}

/// Copying one takes until the gate is opened.
struct Gate {
    std::atomic<bool>* isOpen = nullptr;
    std::atomic<bool>* isReached = nullptr;
    Gate(std::atomic<bool>* own, std::atomic<bool>* reached) : isOpen(own), isReached(reached) {}
    Gate() = default;
    Gate(const Gate& other) { pass(other); }
    Gate& operator=(const Gate& other) {  // NOLINT(bugprone-unhandled-self-assignment)
        pass(other);
        return *this;
    }
    ~Gate() = default;

    static void pass(const Gate& other) {
        if (other.isOpen != nullptr) {
            *other.isReached = true;
            awaitThat([&] { return other.isOpen->load(); });
        }
    }
};

TYPED_TEST(SharedEventQueueEndTest, EventThatIsBeingAddedKeepsTheQueueBusy) {
    EventQueue<int, void(const Gate&), TypeParam> queue;
    std::atomic<bool> isOpen{false};
    std::atomic<bool> isReached{false};
    Crew crew;
    crew.add([&] {
        const Gate gate(&isOpen, &isReached);
        EXPECT_TRUE(queue.enqueue(1, gate)) << "closed after it was admitted";
    });
    crew.start();
    awaitThat([&] { return isReached.load(); });
    EXPECT_FALSE(queue.emptyQueue());
    EXPECT_FALSE(queue.drainFor(0ns));
    queue.close();
    int events = 0;
    crew.add([&] { isOpen = true; });
    queue.runWith([&](int, const Gate&) { ++events; });
    EXPECT_EQ(events, 1);
    crew.join();
}

/// Assigning one takes until the gate is opened.
struct SlowToAssign {
    Gate gate;
    SlowToAssign() = default;
    SlowToAssign(std::atomic<bool>* own, std::atomic<bool>* reached) : gate(own, reached) {}
    SlowToAssign(const SlowToAssign& other) : gate(other.gate.isOpen, other.gate.isReached) {}
    SlowToAssign& operator=(const SlowToAssign&) = default;
    ~SlowToAssign() = default;
};

TYPED_TEST(SharedEventQueueEndTest, EventIsNotOvertakenWhileSomebodyPeeksAtIt) {
    EventQueue<int, void(const SlowToAssign&), TypeParam> queue(
        EventQueueOptions{2, Overflow::dropOldest});
    std::atomic<bool> isOpen{false};
    std::atomic<bool> isReached{false};
    EXPECT_TRUE(queue.enqueue(1, SlowToAssign(&isOpen, &isReached)));
    EXPECT_TRUE(queue.enqueue(2, SlowToAssign()));
    Crew crew;
    crew.add([&] {
        typename decltype(queue)::QueuedEvent event{};
        EXPECT_TRUE(queue.peekEvent(&event));
        EXPECT_EQ(event.event, 1);
    });
    crew.start();
    awaitThat([&] { return isReached.load(); });
    EXPECT_EQ(queue.sizeApprox(), 2U) << "it has not left its place";
    EXPECT_TRUE(queue.enqueue(3, SlowToAssign())) << "a peeked event takes no room";
    EXPECT_TRUE(queue.enqueue(4, SlowToAssign())) << "the second one makes room";
    EXPECT_EQ(queue.statistics().discarded, 1U);
    std::vector<int> order;
    const auto note = [&](int number, const SlowToAssign&) {
        EXPECT_TRUE(isOpen.load()) << "nothing is taken out meanwhile";
        order.push_back(number);
    };
    crew.add([&] { isOpen = true; });
    EXPECT_TRUE(queue.processOneWith(note));
    EXPECT_TRUE(queue.processQueueWith(note));
    EXPECT_EQ(order, (std::vector<int>{1, 3, 4}));
}

TYPED_TEST(SharedEventQueueEndTest, PeekedEventIsNotDroppedBehindEventsThatCameBack) {
    EventQueue<int, void(const SlowToAssign&), TypeParam> queue(
        EventQueueOptions{2, Overflow::dropOldest});
    std::atomic<bool> isOpen{false};
    std::atomic<bool> isReached{false};
    Crew crew;
    crew.add([&] {
        typename decltype(queue)::QueuedEvent event{};
        EXPECT_TRUE(queue.peekEvent(&event));
        EXPECT_EQ(event.event, 3);
    });
    EXPECT_TRUE(queue.enqueue(1, SlowToAssign()));
    EXPECT_TRUE(queue.enqueue(2, SlowToAssign()));
    EXPECT_FALSE(queue.processIf([&] {
        if (!isReached) {
            EXPECT_TRUE(queue.enqueue(3, SlowToAssign(&isOpen, &isReached)));
            crew.start();
            awaitThat([&] { return isReached.load(); });
        }
        return false;
    }));
    EXPECT_TRUE(queue.enqueue(4, SlowToAssign()));
    EXPECT_TRUE(queue.enqueue(5, SlowToAssign()));
    EXPECT_EQ(queue.statistics().discarded, 2U);
    isOpen = true;
    crew.join();
    std::vector<int> order;
    EXPECT_TRUE(
        queue.processQueueWith([&](int number, const SlowToAssign&) { order.push_back(number); }));
    EXPECT_EQ(order, (std::vector<int>{3, 4, 5}));
}

// ---- a loop that watches descriptors

#if defined(__linux__)
struct LoopPolicies {
    struct Threading : MultipleThreading {
        using Wait = EventFdWait;
    };
};

TEST(EventQueueLoopTest, DescriptorOfItsWaitIsReadableWhenAnEventArrives) {
    EventQueue<int, void(int), LoopPolicies> queue;
    int sum = 0;
    queue.appendListener(3, [&sum](int value) { sum += value; });
    pollfd wanted{queue.waiting().descriptor(), POLLIN, 0};
    EXPECT_FALSE(queue.waitFor(0s)) << "it arms the descriptor";
    EXPECT_EQ(::poll(&wanted, 1, 0), 0);
    EXPECT_TRUE(queue.enqueue(3, 7));
    EXPECT_EQ(::poll(&wanted, 1, 0), 1);
    EXPECT_TRUE(queue.waitFor(0s));
    EXPECT_TRUE(queue.process());
    EXPECT_FALSE(queue.waitFor(0s));
    EXPECT_EQ(::poll(&wanted, 1, 0), 0);
    queue.close();
    EXPECT_EQ(::poll(&wanted, 1, 0), 1) << "the loop sees the end";
    EXPECT_EQ(sum, 7);
}
#endif

// ---- one thread has nobody to wait for

TEST(EventQueueSingleThreadDeathTest, WaitThatWouldNeverEndSaysSo) {
    EventQueue<int, void(int), SingleThreadPolicies> queue;
    EXPECT_DEATH(queue.wait(), "SingleThreading never ends");
    EXPECT_DEATH(queue.run(), "SingleThreading never ends");
    EventQueue<int, void(int), SingleThreadPolicies> bounded(EventQueueOptions{1, Overflow::block});
    EXPECT_TRUE(bounded.enqueue(1));
    EXPECT_DEATH((void)bounded.enqueue(1), "SingleThreading never ends");
    EXPECT_DEATH(bounded.drain(), "SingleThreading never ends");
    bounded.wait();
}

#if !defined(NDEBUG) && defined(GTEST_HAS_DEATH_TEST)
// ---- peekEvent()

/// An argument whose copy assignment uses its queue.
struct Busybody {
    std::function<void()> act;

    Busybody() = default;
    explicit Busybody(std::function<void()> action) : act(std::move(action)) {}
    Busybody(const Busybody&) = default;
    Busybody& operator=(const Busybody& other) {
        other.act();
        return *this;
    }
    ~Busybody() = default;
};

template <class Policies>
class EventQueuePeekDeathTest : public testing::Test {};
TYPED_TEST_SUITE(EventQueuePeekDeathTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueuePeekDeathTest, CopyThatWouldWaitForItsOwnEndSaysSo) {
    using Queue = EventQueue<int, void(const Busybody&), TypeParam>;
    const auto peek = [](void (*use)(Queue&), Overflow overflow) {
        Queue queue(EventQueueOptions{1, overflow});
        EXPECT_TRUE(queue.enqueue(1, Busybody([&queue, use] { use(queue); })));
        typename Queue::QueuedEvent copy;
        (void)queue.peekEvent(&copy);
    };
    const auto enqueue = [](Queue& queue) {
        EXPECT_TRUE(queue.enqueue(2, Busybody())) << "a peeked event takes no room";
        (void)queue.enqueue(3, Busybody());
    };
    const char* const message = "the copy of a peeked event must not wait";
    EXPECT_DEATH(peek([](Queue& queue) { (void)queue.processOne(); }, Overflow::reject), message);
    EXPECT_DEATH(peek([](Queue& queue) { queue.clearEvents(); }, Overflow::reject), message);
    EXPECT_DEATH(peek(enqueue, Overflow::block), message);
    peek(enqueue, Overflow::reject);
    peek(enqueue, Overflow::dropOldest);
}
#endif

}  // namespace
}  // namespace sluice
