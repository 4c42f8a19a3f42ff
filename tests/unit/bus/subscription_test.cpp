#include "support/crew.hpp"
#include "support/scale.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/fixed/fixed_function.hpp>

#include "support/testing.hpp"
#include <exception>
#include <thread>

namespace sluice {
namespace {

using namespace test;
using Log = std::vector<std::string>;

TEST(BusSubscriptionTest, HandlersAreCalledInTheOrderOfSubscription) {
    TestBus<10> bus;
    Log log;
    auto a = bus.subscribe<Sample>([&](const Sample&) { log.emplace_back("a"); });
    auto b = bus.subscribe<Sample>([&](const Sample&) { log.emplace_back("b"); });
    auto c = bus.subscribe<Sample>([&](const Sample&) { log.emplace_back("c"); });
    EXPECT_TRUE(a.unsubscribe());
    auto d = bus.subscribe<Sample>([&](const Sample&) { log.emplace_back("d"); });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    ASSERT_EQ(bus.publish(Alarm{}), SendResult::ok);
    EXPECT_EQ(bus.process(), 2U);
    EXPECT_EQ(log, (Log{"b", "c", "d"}));
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 3U);
    EXPECT_EQ(bus.subscriptionCount<Alarm>(), 0U);
}

#if defined(NDEBUG)
TEST(BusSubscriptionTest, EmptyHandlerIsRefused) {
    TestBus<10> bus;
    void (*const nobody)(const Sample&) = nullptr;
    EXPECT_FALSE(bus.subscribe<Sample>(nobody));
    EXPECT_FALSE(bus.subscribe<Sample>(std::function<void(const Sample&)>()));
    EXPECT_FALSE(bus.subscribe<Sample>(FixedFunction<void(const Sample&), 16>()));
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 0U);
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
}
#elif defined(GTEST_HAS_DEATH_TEST)
TEST(BusSubscriptionDeathTest, EmptyHandlerIsRefused) {
    TestBus<10> bus;
    const auto subscribe = [&bus](auto handler) {
        const auto subscription = bus.template subscribe<Sample>(std::move(handler));
    };
    using Header = TestBus<10>::Header;
    void (*const nobody)(const Sample&) = nullptr;
    EXPECT_DEATH(subscribe(nobody), "an empty handler");
    EXPECT_DEATH(subscribe(std::function<void(const Sample&)>()), "an empty handler");
    EXPECT_DEATH(subscribe(std::function<void(const Sample&, const Header&)>()),
                 "an empty handler");
    EXPECT_DEATH(subscribe(FixedFunction<void(const Sample&), 16>()), "an empty handler");
}
#endif

TEST(BusSubscriptionTest, CanBeMovedAndReleased) {
    TestBus<10> bus;
    int calls = 0;
    Subscription second;
    EXPECT_FALSE(second);
    EXPECT_FALSE(second.unsubscribe());
    {
        auto first = bus.subscribe<Sample>([&](const Sample&) { ++calls; });
        second = std::move(first);
        auto kept = bus.subscribe<Sample>([&](const Sample&) { calls += 10; });
        kept.release();
    }
    EXPECT_TRUE(second.isActive());
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    bus.process();
    EXPECT_EQ(calls, 11);
    EXPECT_TRUE(second.unsubscribe());
    EXPECT_FALSE(second.unsubscribe());
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 1U);
}

struct FewHandlers : DeepTraits<10> {
    static constexpr std::size_t maxHandlers = 2;
};

TEST(BusSubscriptionTest, FullTableShowsAndEndedOnesMakeRoom) {
    Bus<TestMessages, FewHandlers> bus;
    const auto handler = [](const Sample&) {};
    auto a = bus.subscribe<Sample>(handler);
    auto b = bus.subscribe<Sample>(handler);
    EXPECT_TRUE(a && b);
    EXPECT_FALSE(bus.trySubscribe<Sample>(handler));
    EXPECT_TRUE(bus.subscribe<Alarm>([](const Alarm&) {})) << "each type has a table of its own";
    a.unsubscribe();
    EXPECT_TRUE(bus.subscribe<Sample>(handler));
}

struct RefusalWitness : BusObserver {
    void subscriptionRefused(std::size_t typeIndex) noexcept {
        std::fprintf(stderr, "no place for a handler of type %zu\n", typeIndex);
        ++refusals;
    }
    int refusals = 0;
};
struct WitnessedRefusals : FewHandlers {
    using Observer = RefusalWitness;
};

TEST(BusSubscriptionDeathTest, OneHandlerTooManyIsNoticed) {
    RefusalWitness witness;
    Bus<TestMessages, WitnessedRefusals> bus(witness);
    const auto handler = [](const Alarm&) {};
    const auto a = bus.subscribe<Alarm>(handler);
    const auto b = bus.subscribe<Alarm>(handler);
#if defined(NDEBUG)
    EXPECT_FALSE(bus.subscribe<Alarm>(handler));
    EXPECT_EQ(witness.refusals, 1);
#elif defined(GTEST_HAS_DEATH_TEST)
    EXPECT_DEATH((void)bus.subscribe<Alarm>(handler), "no place for a handler of type 1");
#endif
}

TEST(BusSubscriptionTest, HandlerMaySubscribeAndUnsubscribe) {
    TestBus<10> bus;
    Log log;
    Subscription later;
    Subscription second;
    auto first = bus.subscribe<Sample>([&](const Sample&) {
        log.emplace_back("first");
        second.unsubscribe();
        if (!later) {
            later = bus.subscribe<Sample>([&](const Sample&) { log.emplace_back("later"); });
        }
    });
    second = bus.subscribe<Sample>([&](const Sample&) { log.emplace_back("second"); });
    publishSamples(bus, 2);
    bus.process();
    EXPECT_EQ(log, (Log{"first", "first", "later"}));
}

TEST(BusSubscriptionTest, HandlerMayEndItself) {
    TestBus<10> bus;
    int calls = 0;
    Subscription subscription;
    const auto captured = std::make_shared<int>(0);
    subscription = bus.subscribe<Sample>([&, captured](const Sample&) {
        ++calls;
        EXPECT_TRUE(subscription.unsubscribe());
        EXPECT_FALSE(subscription.unsubscribe());
        EXPECT_EQ(captured.use_count(), 2) << "what runs must not be destroyed";
    });
    publishSamples(bus, 3);
    bus.process();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 0U);
}

/// Subscribes another handler when it is destroyed.
struct Successor {
    explicit Successor(TestBus<10>* b) noexcept : bus(b) {}
    Successor(Successor&& other) noexcept : bus(std::exchange(other.bus, nullptr)) {}
    ~Successor() {
        if (bus != nullptr) {
            const Subscription next = bus->subscribe<Sample>([](const Sample&) {});
            EXPECT_FALSE(next.isActive());
        }
    }
    TestBus<10>* bus;
};

TEST(BusSubscriptionTest, BusThatIsDestroyedTakesNoHandler) {
    auto bus = std::make_unique<TestBus<10>>();
    auto last = bus->subscribe<Sample>([s = Successor(bus.get())](const Sample&) { (void)s; });
    last.release();
    bus.reset();
}

// The handler may run before the assignment: it must see a whole subscription, or none.
TEST(BusSubscriptionTest, HandlerMayEndItselfDuringTheAssignment) {
    TestBus<64> bus;
    std::atomic<bool> isOver{false};
    std::thread consumer([&] {
        while (!isOver.load()) {
            (void)bus.publish(Sample{});
            (void)bus.process();
        }
    });
    for (std::size_t round = 0; round < scaled(20'000); ++round) {
        Subscription mine;
        mine = bus.subscribe<Sample>([&mine](const Sample&) { mine.unsubscribe(); });
        (void)mine.unsubscribe();
        EXPECT_FALSE(mine.isActive());
    }
    isOver = true;
    consumer.join();
}

TEST(BusSubscriptionTest, HandlerMayEndItselfWhileAnotherThreadMovesIt) {
    TestBus<10> bus;
    std::atomic<bool> isCalled{false};
    std::atomic<bool> isDone{false};
    std::atomic<bool> isEnded{false};
    Crew crew;
    crew.add([&] { bus.run(); });
    crew.start();
    for (std::size_t round = 0; round < scaled(2000); ++round) {
        isCalled = isDone = false;
        Subscription first;
        first = bus.subscribe<Sample>([&](const Sample&) {
            isCalled = true;
            isEnded = first.unsubscribe();
            isDone = true;
        });
        ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
        // Spins, because both threads continue immediately then.
        for (int i = 0; !isCalled && i < 100'000; ++i) {
            cpuPause();
        }
        awaitThat([&] { return isCalled.load(); });
        const Subscription second = std::move(first);
        awaitThat([&] { return isDone.load(); });
        EXPECT_EQ(second.isActive(), !isEnded) << round;
    }
    bus.close();
}

TEST(BusSubscriptionTest, WhatHasEndedItselfDoesNotWaitForTheNextInItsPlace) {
    Bus<TestMessages, FewHandlers> bus;
    Subscription first;
    first = bus.subscribe<Sample>([&](const Sample&) { first.unsubscribe(); });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    bus.process();
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayLeave{false};
    const auto second = bus.subscribe<Sample>([&](const Sample&) {
        isInside = true;
        awaitThat([&] { return mayLeave.load(); });
    });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    Crew crew;
    crew.add([&] { bus.process(); });
    crew.start();
    awaitThat([&] { return isInside.load(); });
    EXPECT_FALSE(first.unsubscribe());
    mayLeave = true;
}

// Other threads find everything free while a handler runs. Under a lock they would wait for each
// other.
template <class Traits>
class BusHandlerTest : public testing::Test {};
using Ways = testing::Types<
    DeepTraits<10>, DeepTraits<10, NoStatsBusTraits>, DeepTraits<10, BareBusTraits>,
    OverflowTraits<Overflow::dropOldest, Overflow::dropOldest, Overflow::dropOldest>>;
TYPED_TEST_SUITE(BusHandlerTest, Ways);

TYPED_TEST(BusHandlerTest, RunsUnderNoLock) {
    Bus<TestMessages, TypeParam> bus;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayLeave{false};
    const auto subscription = bus.template subscribe<Sample>([&](const Sample&) {
        isInside = true;
        awaitThat([&] { return mayLeave.load(); });
    });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    Crew crew;
    crew.add([&] { EXPECT_EQ(bus.process(1), 1U); });
    crew.start();
    awaitThat([&] { return isInside.load(); });
    {
        const auto other = bus.template subscribe<Sample>([](const Sample&) {});
        EXPECT_TRUE(other);
        for (int i = 0; i < 30; ++i) {
            (void)bus.publish(Sample{i});
        }
        EXPECT_NE(bus.pressure(), Pressure::normal);
        if constexpr (TypeParam::statistics) {
            EXPECT_EQ(bus.statistics().total().attempted(), 31U);
        }
    }
    EXPECT_FALSE(mayLeave) << "it still runs";
    mayLeave = true;
    crew.join();
}

#if defined(__cpp_exceptions)
struct Witness : BusObserver {
    void handlerFailed(std::size_t typeIndex, const std::exception_ptr& exception) noexcept {
        ++failures;
        type = typeIndex;
        try {
            std::rethrow_exception(exception);
        } catch (const std::runtime_error& error) {
            what = error.what();
        }
    }
    int failures = 0;
    std::size_t type = 99;
    std::string what;
};
struct Witnessed : DeepTraits<10> {
    using Observer = Witness;
};

TEST(BusSubscriptionTest, HandlerThatThrowsIsCountedAndTheOthersStillRun) {
    Witness witness;
    Bus<TestMessages, Witnessed> bus(witness);
    int calls = 0;
    auto bad = bus.subscribe<Alarm>([](const Alarm&) { throw std::runtime_error("bad handler"); });
    auto good = bus.subscribe<Alarm>([&](const Alarm&) { ++calls; });
    ASSERT_EQ(bus.publish(Alarm{}, Priority::high), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(witness.failures, 1);
    EXPECT_EQ(witness.type, 1U);
    EXPECT_EQ(witness.what, "bad handler");
    const MessageCounts counts = bus.statistics().of(1, Priority::high);
    EXPECT_EQ(counts.failed, 1U);
    EXPECT_EQ(counts.delivered, 1U);
}
#endif

}  // namespace
}  // namespace sluice
