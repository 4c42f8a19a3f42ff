#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "support/sanitizers.hpp"
#include "unit/bus/bus_doubles.hpp"
#include "unit/bus/stop.hpp"

#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;
using std::chrono::hours;
using std::chrono::steady_clock;

template <class Traits>
class BusClosingTest : public testing::Test {
protected:
    std::unique_ptr<Bus<TestMessages, Traits>> owned =
        std::make_unique<Bus<TestMessages, Traits>>();
    Bus<TestMessages, Traits>& theBus = *owned;
};

struct OneProducer : DeepTraits<16> {
    [[maybe_unused]] static constexpr Producers producers = Producers::one;
};
using Modes = testing::Types<DeepTraits<16>, DeepTraits<16, NoStatsBusTraits>,
                             DeepTraits<16, BareBusTraits>, OneProducer>;
TYPED_TEST_SUITE(BusClosingTest, Modes);

TYPED_TEST(BusClosingTest, WhatWasAcceptedIsDelivered) {
    auto& bus = this->theBus;
    publishSamples(bus, 3);
    EXPECT_FALSE(bus.isClosed());
    bus.close();
    bus.close();
    EXPECT_TRUE(bus.isClosed());
    EXPECT_EQ(bus.publish(Sample{9}), SendResult::closed);
    EXPECT_FALSE(bus.isDrained());
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2}));
    EXPECT_TRUE(bus.isDrained());
    EXPECT_FALSE(bus.waitFor(hours(1))) << "nothing will come";
}

TYPED_TEST(BusClosingTest, ConsumerThatStopsWithinABatchLeavesTheRest) {
    auto& bus = this->theBus;
    publishSamples(bus, 5);
    std::vector<int> seen;
    const auto take = partial([&](const Sample& sample) { seen.push_back(sample.value); });
    EXPECT_EQ(bus.processUntil([&] { return seen.size() == 2; }, take), 2U);
    EXPECT_EQ(bus.processUntil([] { return true; }, take), 0U);
    EXPECT_EQ(bus.sizeApprox(), 3U);
    EXPECT_EQ(bus.processUntil([] { return false; }, take, 2), 2U);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{4}));
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
}

TEST(BusProcessUntilTest, StopsBetweenPriorities) {
    TestBus<16> bus;
    ASSERT_EQ(bus.publish(Sample{1}, Priority::high), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{3}, Priority::low), SendResult::ok);
    int seen = 0;
    const auto take = partial([&](const Sample& sample) { seen = sample.value; });
    for (int last = 1; last <= 3; ++last) {
        EXPECT_EQ(bus.processUntil([&] { return seen == last; }, take), 1U);
        EXPECT_EQ(seen, last);
    }
}

TEST(BusProcessUntilTest, AsksOnceBeforeEachMessage) {
    TestBus<16> bus;
    publishSamples(bus, 4);
    bool isRequested = false;
    const auto take = partial([&](const Sample& sample) { isRequested = sample.value == 1; });
    EXPECT_EQ(bus.processUntil([&] { return std::exchange(isRequested, false); }, take), 2U);
}

#if defined(__cpp_exceptions)
/// Calls a function when a slot becomes free, as another thread might act in that moment.
struct HookedWait : BusySpin {
    static inline std::function<void()> hook;
    static void notifyOne() noexcept {
        if (hook) {
            std::exchange(hook, nullptr)();
        }
    }
};
struct HookedTraits : OverflowTraits<Overflow::block, Overflow::block, Overflow::block, 16> {
    using Wait = HookedWait;
};
struct Picky {
    explicit Picky(int number) : value(number) {
        if (number < 0) {
            throw std::runtime_error("negative");
        }
    }
    int value;
};

TEST(BusProcessTest, HighMessageThatArrivesAtASkippedSlotEndsNoPoll) {
    for (const bool hasLow : {false, true}) {
        Bus<Messages<Picky>, HookedTraits> bus;
        EXPECT_THROW((void)bus.emplace<Picky>(-1), std::runtime_error);
        (void)bus.emplace<Picky>(1);
        if (hasLow) {
            (void)bus.emplaceWith<Picky>(Priority::low, 3);
        }
        HookedWait::hook = [&] { (void)bus.emplaceWith<Picky>(Priority::high, 2); };
        std::vector<int> seen;
        (void)bus.processWith([&](Picky& picky) { seen.push_back(picky.value); });
        EXPECT_EQ(seen, hasLow ? (std::vector<int>{2, 1, 3}) : (std::vector<int>{2, 1}));
    }
}

TEST(BusProcessUntilTest, QuestionThatThrowsLeavesTheMessage) {
    TestBus<16> bus;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    const auto fail = []() -> bool { throw std::runtime_error("no answer"); };
    EXPECT_THROW(bus.processUntil(fail, partial([](const Sample&) {})), std::runtime_error);
    EXPECT_EQ(bus.process(), 1U);
}
#endif

TYPED_TEST(BusClosingTest, DestructorDestroysWhatIsLeft) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(this->theBus.publish(Counted(i)), SendResult::ok);
    }
    EXPECT_EQ(Counted::alive, 5);
    this->owned.reset();
    EXPECT_EQ(Counted::alive, 0);
}

/// A job that comes back when it was not done.
struct Insisting {
    explicit Insisting(const std::function<void()>* r) noexcept : comeBack(r) {}
    Insisting(Insisting&& other) noexcept : comeBack(std::exchange(other.comeBack, nullptr)) {}
    ~Insisting() {
        if (comeBack != nullptr) {
            (*comeBack)();
        }
    }
    const std::function<void()>* comeBack;
};

TYPED_TEST(BusClosingTest, DestructorAcceptsNoMessages) {
    auto bus = std::make_unique<Bus<Messages<Insisting>, TypeParam>>();
    int refusals = 0;
    const std::function<void()> publish = [&, &to = *bus] {
        ASSERT_LT(refusals, 100) << "it does not end";
        refusals += to.template emplace<Insisting>(&publish) == SendResult::closed ? 1 : 0;
    };
    ASSERT_EQ(bus->template emplace<Insisting>(&publish), SendResult::ok);
    bus.reset();
    EXPECT_EQ(refusals, 1);
}

struct Blocking : OverflowTraits<Overflow::block, Overflow::block, Overflow::block> {
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 2, 1};
};

TEST(BusDestructionTest, WhatAHandlerHoldsDoesNotWaitForRoom) {
    auto bus = std::make_unique<Bus<Messages<int>, Blocking>>();
    auto result = SendResult::ok;
    std::shared_ptr<void> publishesAtItsEnd(
        nullptr, [&result, &to = *bus](void*) { result = to.publish(1); });
    bus->subscribe<int>([held = std::move(publishesAtItsEnd)](int) {}).release();
    while (bus->tryPublish(1) == SendResult::ok) {
    }
    bus.reset();
    EXPECT_EQ(result, SendResult::closed);
}

TYPED_TEST(BusClosingTest, HandlerMayCloseAndDrain) {
    auto& bus = this->theBus;
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    int calls = 0;
    auto subscription = bus.template subscribe<Sample>([&](const Sample&) {
        ++calls;
        bus.close();
        EXPECT_FALSE(bus.drain(steady_clock::now() + hours(1))) << "it would wait for itself";
    });
    bus.run();
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(bus.isDrained());
}

struct DroppingLow : OverflowTraits<Overflow::dropOldest, Overflow::reject, Overflow::reject, 16> {
};

struct Stopped : DeepTraits<16> {};
struct StoppedByShares : DeepTraits<16> {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
};
struct StoppedWhileOthersWait : OverflowTraits<Overflow::block, Overflow::block, Overflow::block> {
};
struct StoppedRing : DeepTraits<16> {
    static constexpr bool priorities = false;
};
template <class Traits>
class BusStopTest : public testing::Test {
protected:
    using TheBus = Bus<TestMessages, Traits>;

    /// Publishes 5 samples. The handler of the second one stops the bus.
    void stopInTheSecondHandler(const std::function<void(TheBus&)>& consume) {
        TheBus bus;
        int calls = 0;
        const auto subscription = bus.template subscribe<Sample>([&](const Sample&) {
            EXPECT_FALSE(bus.isStopped());
            if (++calls == 2) {
                bus.stop();
                EXPECT_TRUE(bus.isStopped());
                EXPECT_EQ(bus.publish(Sample{9}), SendResult::closed);
            }
        });
        publishSamples(bus, 5);
        consume(bus);
        EXPECT_EQ(calls, 2);
        EXPECT_TRUE(bus.isDrained());
        const MessageCounts total = bus.statistics().total();
        EXPECT_EQ(total.delivered, 2U);
        EXPECT_EQ(total.discarded, 3U);
        EXPECT_EQ(total.closed, 1U);
        EXPECT_EQ(total.queued(), 0U);
    }
};
using StopTraits =
    testing::Types<Stopped, StoppedByShares, StoppedWhileOthersWait, StoppedRing, DroppingLow>;
TYPED_TEST_SUITE(BusStopTest, StopTraits, );

TYPED_TEST(BusStopTest, DiscardsTheRestWhenTheHandlerHasReturned) {
    this->stopInTheSecondHandler([](auto& bus) { bus.run(); });
    this->stopInTheSecondHandler([](auto& bus) { EXPECT_EQ(bus.process(), 2U); });
    this->stopInTheSecondHandler([](auto& bus) {
        EXPECT_EQ(bus.process(1), 1U);
        EXPECT_EQ(bus.process(1), 1U);
    });
}

TYPED_TEST(BusStopTest, EndsAVisitorAndAWait) {
    Bus<TestMessages, TypeParam> bus;
    publishSamples(bus, 5);
    int calls = 0;
    bus.runWith(partial([&](const Sample&) { ++calls == 3 ? bus.stop() : void(); }));
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(bus.statistics().total().discarded, 2U);

    Bus<TestMessages, TypeParam> empty;
    Crew crew;
    crew.add([&] { empty.run(); });  // waits
    crew.add([&] { empty.stop(); });
    crew.start();
    crew.join();
    EXPECT_TRUE(empty.isDrained());
}

// Whatever the publishers and the consumer do when the bus is stopped, the counts are exact.
TYPED_TEST(BusStopTest, CountsAreExactWhenAnotherThreadStops) {
    for (int round = 0; round < 20; ++round) {
        Bus<TestMessages, TypeParam> bus;
        std::atomic<std::uint64_t> accepted{0};
        std::uint64_t handled = 0;
        const auto subscription = bus.template subscribe<Sample>([&](const Sample&) { ++handled; });
        Crew crew;
        for (int i = 0; i < 2; ++i) {
            crew.add([&] {
                for (SendResult sent = SendResult::ok; sent != SendResult::closed;) {
                    sent = bus.publish(Sample{1});
                    accepted += sent == SendResult::ok ? 1 : 0;
                }
            });
        }
        crew.add([&] { bus.run(); });
        crew.add([&] {
            awaitThat([&] { return accepted > 20; });
            bus.stop();
        });
        crew.start();
        crew.join();
        const MessageCounts total = bus.statistics().total();
        EXPECT_EQ(total.published, accepted.load());
        EXPECT_EQ(total.delivered, handled);
        EXPECT_EQ(total.published, total.delivered + total.dropped + total.discarded);
        EXPECT_EQ(bus.sizeApprox(), 0U);
    }
}

#if defined(__cpp_exceptions)
// A slot whose constructor threw lies behind the last message.
TEST(BusDiscardTest, LeavesNothingBehindTheLastMessage) {
    Bus<Messages<Picky>, DroppingLow> bus;
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        for (std::size_t i = 0; i < bus.roomOf(priority); ++i) {
            ASSERT_EQ(bus.emplaceWith<Picky>(priority, 1), SendResult::ok);
        }
    }
    EXPECT_THROW((void)bus.emplaceWith<Picky>(Priority::low, -1), std::runtime_error);
    bus.close();
    EXPECT_EQ(bus.discard(), bus.capacity());
    EXPECT_TRUE(bus.isDrained());
    EXPECT_EQ(bus.sizeApprox(), 0U);
}

struct Refusal {
    Refusal(std::atomic<bool>& isBegun, const std::atomic<bool>& mayThrow) {
        isBegun = true;
        awaitThat([&] { return mayThrow.load(); });
        throw 1;
    }
};

// The last thing that happens is a constructor that throws.
TYPED_TEST(BusClosingTest, DrainHearsOfTheEndWhoeverBringsItAbout) {
    for (int i = 0; i < 20; ++i) {
        const auto bus = std::make_unique<Bus<Messages<Refusal>, TypeParam>>();
        std::atomic<bool> isBegun{false};
        std::atomic<bool> mayThrow{false};
        Crew crew;
        crew.add(
            [&] { EXPECT_THROW((void)bus->template emplace<Refusal>(isBegun, mayThrow), int); });
        crew.add([&] { bus->run(); });
        crew.add([&] {
            awaitThat([&] { return isBegun.load(); });
            EXPECT_TRUE(bus->drain(steady_clock::now() + hours(1)));
        });
        crew.start();
        awaitThat([&] { return bus->isClosed(); });
        mayThrow = true;
    }
}
#endif

/// Does something when it is destroyed.
struct Last {
    explicit Last(const std::function<void()>* a) noexcept : act(a) {}
    Last(Last&& other) noexcept : act(std::exchange(other.act, nullptr)) {}
    ~Last() {
        if (act != nullptr) {
            (*act)();
        }
    }
    const std::function<void()>* act;
};
/// Sleeps at once, so a waiter that is not notified sleeps on.
struct Sleep : Park {
    Sleep() : Park(Options{0, 0}) {}
};
struct RoomForOne : OverflowTraits<Overflow::reject, Overflow::dropOldest, Overflow::reject> {
    using Wait = ObservedWait<Sleep>;
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 1, 1};
};
using BusForOne = Bus<Messages<Last>, RoomForOne>;

/// A publisher drops a message while the later one is handled, and the bus closed. `waitForTheEnd`
/// must return when the message is gone.
void expectToldOfTheDrop(const std::function<void(BusForOne&)>& waitForTheEnd) {
    BusForOne bus;
    Crew crew;
    crew.add([&] { waitForTheEnd(bus); });
    const std::function<void()> closeAndAwaitAWaiter = [&] {
        bus.close();
        EXPECT_EQ(bus.process(), 1U);
        const std::uint64_t refusals = RoomForOne::Wait::refusals();
        crew.start();
        awaitThat([&] { return RoomForOne::Wait::refusals() != refusals; });
    };
    ASSERT_EQ(bus.publish(Last(&closeAndAwaitAWaiter)), SendResult::ok);
    EXPECT_EQ(bus.publish(Last(nullptr)), SendResult::ok);
    crew.join();
    EXPECT_TRUE(bus.isDrained());
}

TEST(BusDropAtTheEndTest, RunHearsOfADroppedMessage) {
    expectToldOfTheDrop([](BusForOne& bus) { bus.run(); });
}

/// Stops a thread while it wakes the consumer. Its message is published by then.
struct StopsWhileItWakes : Park {
    void notifyAll() noexcept {
        Stop::pass();
        Park::notifyAll();
    }
};
template <class Base>
struct StoppingTraits : Base {
    using Wait = StopsWhileItWakes;
};

#if defined(GTEST_HAS_DEATH_TEST)
template <class Traits>
void exitInAHandler() {
    static Bus<TestMessages, Traits> bus;
    static const Subscription subscription =
        bus.template subscribe<Alarm>([](const Alarm&) { std::exit(3); });
    auto own = std::make_shared<Subscription>();  // the handler's captures own it
    *own = bus.template subscribe<Sample>([own, text = std::string(99, 'x')](const Sample&) {});
    own.reset();
    (void)bus.publish(Alarm{"a text that is too long to be kept in the string itself"});
    (void)bus.publish(Alarm{});
    bus.process();
}

TYPED_TEST(BusClosingTest, HandlerMayEndTheProgram) {
    EXPECT_EXIT(exitInAHandler<TypeParam>(), testing::ExitedWithCode(3), "");
}
#endif

#if !defined(NDEBUG) && defined(GTEST_HAS_DEATH_TEST)
TEST(BusDrainDeathTest, HandlerThatDestroysItsBusIsNoticed) {
    const auto destroyInAHandler = [] {
        auto bus = std::make_unique<TestBus<4>>();
        bus->subscribe<Alarm>([&bus](const Alarm&) { bus.reset(); }).release();
        (void)bus->publish(Alarm{});
        bus->process();
    };
    EXPECT_DEATH(destroyInAHandler(), SLUICE_TEST_ASAN
                                          ? "heap-use-after-free|a handler has destroyed its bus"
                                          : "a handler has destroyed its bus");
}

TEST(BusDrainDeathTest, DestructionUnderAPublisherIsNoticed) {
    const auto destroyUnderAPublisher = [] {
        auto bus = std::make_unique<Bus<Messages<int>, StoppingTraits<NoStatsBusTraits>>>();
        Crew crew;
        Stop::await(crew, [&to = *bus] { (void)to.publish(1); });
        (void)bus->process();
        (void)bus->drain(steady_clock::now() + hours(1));
        bus.reset();
        std::_Exit(0);  // nobody may join the publisher
    };
    EXPECT_DEATH(destroyUnderAPublisher(), "destroyed while a thread publishes");
}

#endif

}  // namespace
}  // namespace sluice
