#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

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
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    EXPECT_FALSE(bus.isClosed());
    bus.close();
    bus.close();
    EXPECT_TRUE(bus.isClosed());
    EXPECT_EQ(bus.publish(Sample{9}), PublishResult::closed);
    EXPECT_FALSE(bus.isDrained());
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2}));
    EXPECT_TRUE(bus.isDrained());
    EXPECT_FALSE(bus.waitFor(hours(1))) << "nothing will come";
}

TYPED_TEST(BusClosingTest, ConsumerThatStopsWithinAHarvestDiscardsTheRest) {
    auto& bus = this->theBus;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    std::vector<int> seen;
    EXPECT_EQ(bus.processUntil([&] { return seen.size() == 2; }, partial([&](const Sample& sample) {
                                   seen.push_back(sample.value);
                               })),
              5U);
    EXPECT_EQ(seen, (std::vector<int>{0, 1}));
    EXPECT_EQ(bus.sizeApprox(), 0U);
    if constexpr (TypeParam::statistics) {
        EXPECT_EQ(bus.statistics().total().delivered, 2U);
        EXPECT_EQ(bus.statistics().total().discarded, 3U);
    }
}

TYPED_TEST(BusClosingTest, DestructorDestroysWhatIsLeft) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(this->theBus.publish(Counted(i)), PublishResult::ok);
    }
    EXPECT_EQ(Counted::alive, 5);
    this->owned.reset();
    EXPECT_EQ(Counted::alive, 0);
}

TYPED_TEST(BusClosingTest, DiscardThrowsAwayWhatIsLeft) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(this->theBus.publish(Counted(i)), PublishResult::ok);
    }
    EXPECT_EQ(this->theBus.discard(), 5U);
    EXPECT_EQ(Counted::alive, 0);
    EXPECT_EQ(this->theBus.sizeApprox(), 0U);
    if constexpr (TypeParam::statistics) {
        EXPECT_EQ(this->theBus.statistics().total().discarded, 5U);
        EXPECT_TRUE(areBalanced(this->theBus, 5));
    }
}

TYPED_TEST(BusClosingTest, DrainWaitsForTheConsumer) {
    auto& bus = this->theBus;
    std::vector<int> seen;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    Crew crew;
    crew.add([&] { bus.runWith(partial([&](Sample& each) { seen.push_back(each.value); })); });
    crew.start();
    EXPECT_TRUE(bus.drain(steady_clock::now() + hours(1)));
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(bus.drain(steady_clock::now()));
    crew.join();
}

TYPED_TEST(BusClosingTest, DrainGivesUpAtItsDeadline) {
    ASSERT_EQ(this->theBus.publish(Sample{}), PublishResult::ok);
    EXPECT_FALSE(this->theBus.drain(steady_clock::now()));
    EXPECT_EQ(this->theBus.process(), 1U);
    EXPECT_TRUE(this->theBus.drain(steady_clock::now()));
}

TYPED_TEST(BusClosingTest, HandlerMayCloseAndDrain) {
    auto& bus = this->theBus;
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), PublishResult::ok);
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

#if defined(__cpp_exceptions)
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

TYPED_TEST(BusClosingTest, WaitEndsWithAMessage) {
    auto& bus = this->theBus;
    EXPECT_FALSE(bus.waitFor(std::chrono::nanoseconds(1)));
    Crew crew;
    crew.add([&] { ASSERT_EQ(bus.publish(Sample{7}), PublishResult::ok); });
    crew.start();
    EXPECT_TRUE(bus.waitFor(hours(1)));
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{7}));
}

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
/// Sleeps at once, so that a waiter who is not told does not notice.
struct Sleep : Park {
    Sleep() : Park(Options{0, 0}) {}
};
struct RoomForOne
    : OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject> {
    using Wait = ObservedWait<Sleep>;
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 1, 1};
};
using BusForOne = Bus<Messages<Last>, RoomForOne>;

/// A publisher drops the last message of a bus that is closed while it does so. `waitForTheEnd`
/// must return then.
void expectToldOfTheDrop(const std::function<void(BusForOne&)>& waitForTheEnd) {
    BusForOne bus;
    Crew crew;
    crew.add([&] { waitForTheEnd(bus); });
    const std::function<void()> closeAndAwaitAWaiter = [&] {
        bus.close();
        const std::uint64_t refusals = RoomForOne::Wait::refusals();
        crew.start();
        awaitThat([&] { return RoomForOne::Wait::refusals() != refusals; });
    };
    ASSERT_EQ(bus.publish(Last(&closeAndAwaitAWaiter)), PublishResult::ok);
    EXPECT_EQ(bus.publish(Last(nullptr)), PublishResult::closed);
    crew.join();
    EXPECT_TRUE(bus.isDrained());
}

TEST(BusDropAtTheEndTest, DrainHearsOfADroppedMessage) {
    expectToldOfTheDrop(
        [](BusForOne& bus) { EXPECT_TRUE(bus.drain(steady_clock::now() + hours(1))); });
}

TEST(BusDropAtTheEndTest, RunHearsOfADroppedMessage) {
    expectToldOfTheDrop([](BusForOne& bus) { bus.run(); });
}

/// A publisher that was told to stops while it wakes the consumer: its message is published by
/// then, and its call has not returned.
struct StoppedWhileItWakes : Park {
    inline static thread_local bool isToStop = false;
    inline static std::atomic<bool> hasStopped{false};
    inline static std::atomic<bool> mayGoOn{false};

    void notifyAll() noexcept {
        if (isToStop) {
            hasStopped.store(true);
            awaitThat([] { return mayGoOn.load(); });
        }
        Park::notifyAll();
    }
};
struct StoppingTraits : FullBusTraits {
    using Wait = StoppedWhileItWakes;
};

// Else the bus could be destroyed under the publisher's feet.
TEST(BusDrainTest, WaitsForPublishersWhoseMessagesWereHandled) {
    auto bus = std::make_unique<Bus<Messages<int>, StoppingTraits>>();
    Crew crew;
    crew.add([&] {
        StoppedWhileItWakes::isToStop = true;
        EXPECT_EQ(bus->publish(1), PublishResult::ok);
    });
    crew.start();
    awaitThat([] { return StoppedWhileItWakes::hasStopped.load(); });
    EXPECT_EQ(bus->process(), 1U);
    EXPECT_FALSE(bus->drain(steady_clock::now()));
    EXPECT_TRUE(bus->isDrained()) << "all messages are handled";
    StoppedWhileItWakes::mayGoOn.store(true);
    EXPECT_TRUE(bus->drain(steady_clock::now() + hours(1)));
    bus.reset();
    crew.join();
}

}  // namespace
}  // namespace sluice
