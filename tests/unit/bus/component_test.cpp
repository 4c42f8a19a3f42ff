#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/component.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace {

using namespace test;
using SmallBus = TestBus<10>;
using Log = std::vector<std::string>;

/// Handles two types with member functions, and writes down what came.
class Recorder final {
public:
    Recorder(SmallBus& bus, Log& log) : log_(log) {
        component_.subscribe<Sample>(bus, &Recorder::onSample);
        component_.subscribe<Alarm>(bus, &Recorder::onAlarm);
    }
    [[nodiscard]] std::size_t count() const { return component_.count(); }
    void retire() { component_.unsubscribeAll(); }

private:
    void onSample(const Sample& sample) { log_.push_back(std::to_string(sample.value)); }
    void onAlarm(const Alarm& alarm, const SmallBus::Header& header) noexcept {
        log_.push_back(alarm.text + " from " + std::to_string(header.sender));
    }

    Log& log_;
    Component<Recorder, 2> component_{*this};
};

static_assert(!std::is_copy_constructible_v<Component<Recorder, 2>>);
static_assert(Component<Recorder, 2>::capacity() == 2);

TEST(BusComponentTest, MemberFunctionsHandleMessagesUntilTheOwnerIsGone) {
    SmallBus bus;
    Log log;
    {
        const Recorder recorder(bus, log);
        EXPECT_EQ(recorder.count(), 2U);
        PublishOptions options;
        options.sender = 7;
        ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
        ASSERT_EQ(bus.publish(Alarm{"fire"}, options), PublishResult::ok);
        bus.process();
    }
    EXPECT_EQ(log, (Log{"1", "fire from 7"}));
    EXPECT_EQ(bus.subscriptionCount<Sample>() + bus.subscriptionCount<Alarm>(), 0U);
    ASSERT_EQ(bus.publish(Sample{2}), PublishResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(log.size(), 2U);
}

TEST(BusComponentTest, UnsubscribeAllEndsThemBeforeTheOwnerDoes) {
    SmallBus bus;
    Log log;
    Recorder recorder(bus, log);
    recorder.retire();
    EXPECT_EQ(recorder.count(), 0U);
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 0U);
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_TRUE(log.empty());
    recorder.retire();
}

struct FewHandlers : DeepTraits<10> {
    static constexpr std::size_t maxHandlers = 3;
};
using TightBus = Bus<TestMessages, FewHandlers>;

/// Subscribes the same handler again and again.
struct Glutton final {
    explicit Glutton(TightBus& b) : bus(b) {}
    bool tryAnother() {
        return component.trySubscribe<Sample>(bus, [this](const Sample&) { ++calls; });
    }
    void another() {
        component.subscribe<Sample>(bus, [this](const Sample&) { ++calls; });
    }

    TightBus& bus;
    int calls = 0;
    Component<Glutton, 2> component{*this};
};

TEST(BusComponentTest, SubscriptionThatDoesNotFitIsRefusedAndLeavesNothing) {
    TightBus bus;
    Glutton first(bus);
    Glutton second(bus);
    EXPECT_TRUE(first.tryAnother());
    EXPECT_TRUE(first.tryAnother());
    EXPECT_FALSE(first.tryAnother()) << "the component is full";
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 2U);
    EXPECT_TRUE(second.tryAnother());
    EXPECT_FALSE(second.tryAnother()) << "the table of the bus is full";
    EXPECT_EQ(second.component.count(), 1U);
    auto captured = std::make_shared<int>(0);
    auto handler = [captured](const Sample&) {};
    EXPECT_FALSE(first.component.trySubscribe<Sample>(bus, std::move(handler)));
    EXPECT_EQ(captured.use_count(), 2) << "the handler is still the caller's";
    ASSERT_EQ(bus.publish(Sample{}), PublishResult::ok);
    bus.process();
    EXPECT_EQ(first.calls, 2);
    EXPECT_EQ(second.calls, 1);
}

#if defined(__cpp_exceptions)
std::string refusalOf(Glutton& glutton) {
    try {
        glutton.another();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(BusComponentTest, SubscribeTellsWhichLimitWasReached) {
    TightBus bus;
    Glutton first(bus);
    Glutton second(bus);
    EXPECT_EQ(refusalOf(first), "accepted");
    EXPECT_EQ(refusalOf(first), "accepted");
    EXPECT_EQ(refusalOf(first), "subscriptions of a Component: 3, limit 2");
    EXPECT_EQ(refusalOf(second), "accepted");
    EXPECT_EQ(refusalOf(second), "handlers of one type of message on a bus: 4, limit 3");
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 3U);
}
#else
TEST(BusComponentDeathTest, SubscribeTellsWhichLimitWasReached) {
    TightBus bus;
    Glutton first(bus);
    Glutton second(bus);
    first.another();
    first.another();
    EXPECT_DEATH(first.another(), "subscriptions of a Component: 3, limit 2");
    second.another();
    EXPECT_DEATH(second.another(), "handlers of one type of message on a bus: 4, limit 3");
}
#endif

/// Its owner puts the Component where it would end too late.
struct Misplaced final {
    Component<Misplaced, 1> component{*this};
    char tooLate = 0;
};

struct Stranger final {
    int number = 0;
};

TEST(BusComponentDeathTest, ComponentThatIsNotTheLastMemberIsCaught) {
    EXPECT_DEATH((void)Misplaced{}, "make the Component the last member of its owner");
    Stranger stranger;
    EXPECT_DEATH((Component<Stranger, 1>{stranger}), "the last member of its owner");
}

/// Dies in its own handler, with what the handler uses.
class Suicidal final {
public:
    Suicidal(SmallBus& bus, std::unique_ptr<Suicidal>& self, Log& log)
        : self_(self), log_(log), name_(std::make_unique<std::string>("a name of some length")) {
        component_.subscribe<Sample>(bus, &Suicidal::before);
        component_.subscribe<Sample>(bus, &Suicidal::die);
        component_.subscribe<Sample>(bus, &Suicidal::after);
    }

private:
    void before(const Sample&) { log_.push_back(*name_); }
    void die(const Sample&) {
        Log& log = log_;
        self_.reset();
        log.emplace_back("dead");
    }
    void after(const Sample&) { log_.push_back(*name_); }

    std::unique_ptr<Suicidal>& self_;
    Log& log_;
    std::unique_ptr<std::string> name_;
    Component<Suicidal, 3> component_{*this};
};

TEST(BusComponentTest, OwnerMayDieInItsOwnHandler) {
    SmallBus bus;
    Log log;
    std::unique_ptr<Suicidal> owner;
    owner = std::make_unique<Suicidal>(bus, owner, log);
    const Recorder other(bus, log);
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), PublishResult::ok);
    EXPECT_EQ(bus.process(), 2U);
    EXPECT_EQ(log, (Log{"a name of some length", "dead", "1", "2"}));
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 1U);
    owner = std::make_unique<Suicidal>(bus, owner, log);
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 4U) << "the places are free again";
}

/// Kept alive by a handler that it subscribed itself.
struct Kept final {
    void keep(SmallBus& bus, std::shared_ptr<Kept> self) {
        component.subscribe<Sample>(bus, [self = std::move(self)](const Sample&) {});
        component.subscribe<Alarm>(bus, [](const Alarm&) {});
    }
    Component<Kept, 2> component{*this};
};

TEST(BusComponentTest, OwnerMayDieWithTheHandlerThatHeldIt) {
    SmallBus bus;
    // Not make_shared(): the weak pointer would keep the memory.
    std::shared_ptr<Kept> owner(new Kept);
    const std::weak_ptr<Kept> watch = owner;
    owner->keep(bus, owner);
    Kept& kept = *owner;
    owner.reset();
    EXPECT_FALSE(watch.expired());
    kept.component.unsubscribeAll();
    EXPECT_TRUE(watch.expired());
    EXPECT_EQ(bus.subscriptionCount<Alarm>(), 0U);
}

// The bus ends what is left before any part of it goes.
TEST(BusComponentTest, OwnerThatItsHandlerHoldsMayDieWithTheBus) {
    auto bus = std::make_unique<SmallBus>();
    std::shared_ptr<Kept> owner(new Kept);
    const std::weak_ptr<Kept> watch = owner;
    owner->keep(*bus, owner);
    owner.reset();
    EXPECT_FALSE(watch.expired());
    bus.reset();
    EXPECT_TRUE(watch.expired());
}

struct Signals {
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayLeave{false};
    std::atomic<bool> isInsideAtTheEnd{false};
    std::atomic<bool> hasRetired{false};
};

/// A part of an owner that must survive its handler.
struct Part {
    ~Part() { signals.isInsideAtTheEnd = signals.isInside.load(); }
    Signals& signals;
};

/// A handler that takes its time.
class Slow final {
public:
    Slow(SmallBus& bus, Signals& signals) : part_{signals} {
        component_.subscribe<Sample>(bus, &Slow::onSample);
    }

private:
    void onSample(const Sample&) {
        part_.signals.isInside = true;
        awaitThat([this] { return part_.signals.mayLeave.load(); });
        part_.signals.isInside = false;
    }

    Part part_;
    Component<Slow, 1> component_{*this};
};

TEST(BusComponentTest, DestructionWaitsForAHandlerOnAnotherThread) {
    SmallBus bus;
    Signals signals;
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "inside %d, may leave %d\n", signals.isInside.load() ? 1 : 0,
                     signals.mayLeave.load() ? 1 : 0);
    });
    auto owner = std::make_unique<Slow>(bus, signals);
    ASSERT_EQ(bus.publish(Sample{}), PublishResult::ok);
    Crew crew;
    crew.add([&] { bus.process(); });
    crew.add([&] {
        // The table no longer knows the handler: its end has begun, and must wait.
        awaitThat([&] { return bus.subscriptionCount<Sample>() == 0; });
        EXPECT_TRUE(signals.isInside.load());
        signals.mayLeave = true;
    });
    crew.start();
    awaitThat([&] { return signals.isInside.load(); });
    owner.reset();
    EXPECT_FALSE(signals.isInsideAtTheEnd.load());
}

/// Retires in its own handler, which still uses what the owner has.
class Retiring final {
public:
    Retiring(SmallBus& bus, Signals& signals) : part_{signals} {
        component_.subscribe<Alarm>(bus, [](const Alarm&) {});
        component_.subscribe<Sample>(bus, &Retiring::onSample);
    }
    [[nodiscard]] std::size_t count() const { return component_.count(); }

private:
    void onSample(const Sample&) {
        part_.signals.isInside = true;
        component_.unsubscribeAll();
        EXPECT_EQ(component_.count(), 0U);
        part_.signals.hasRetired = true;
        awaitThat([this] { return part_.signals.mayLeave.load(); });
        for (int i = 0; i < 1000; ++i) {
            std::this_thread::yield();  // gives the owner time to go too early
        }
        part_.signals.isInside = false;
    }

    Part part_;
    Component<Retiring, 2> component_{*this};
};

TEST(BusComponentTest, DestructionWaitsForAHandlerThatHasRetired) {
    SmallBus bus;
    Signals signals;
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "retired %d, may leave %d\n", signals.hasRetired.load() ? 1 : 0,
                     signals.mayLeave.load() ? 1 : 0);
    });
    auto owner = std::make_unique<Retiring>(bus, signals);
    ASSERT_EQ(bus.publish(Sample{}), PublishResult::ok);
    Crew crew;
    crew.add([&] { bus.process(); });
    crew.start();
    awaitThat([&] { return signals.hasRetired.load(); });
    EXPECT_EQ(bus.subscriptionCount<Alarm>() + bus.subscriptionCount<Sample>(), 0U);
    signals.mayLeave = true;
    owner.reset();
    EXPECT_FALSE(signals.isInsideAtTheEnd.load());
}

/// Subscribes anew in its own handler.
struct Renewing final {
    explicit Renewing(SmallBus& b) : bus(b) { renew(); }
    void renew() {
        component.unsubscribeAll();
        isRenewed = component.trySubscribe<Sample>(bus, &Renewing::onSample);
    }
    void onSample(const Sample&) {
        ++calls;
        renew();
    }

    SmallBus& bus;
    int calls = 0;
    bool isRenewed = false;
    Component<Renewing, 2> component{*this};
};

TEST(BusComponentTest, SubscriptionThatHasEndedItselfMakesRoomWhenItsHandlerReturns) {
    SmallBus bus;
    Renewing owner(bus);
    for (int i = 1; i <= 5; ++i) {
        ASSERT_EQ(bus.publish(Sample{}), PublishResult::ok);
        bus.process();
        EXPECT_EQ(owner.calls, i);
        EXPECT_TRUE(owner.isRenewed);
        EXPECT_EQ(owner.component.count(), 1U);
    }
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 1U);
}

/// Lives for some messages; every handler reads and writes what the owner has on the heap.
class Brief final {
public:
    Brief(SmallBus& bus, std::atomic<std::uint64_t>& handled)
        : handled_(handled), sums_(std::make_unique<std::array<int, 8>>()) {
        component_.subscribe<Sample>(bus, &Brief::add);
        component_.subscribe<Sample>(bus, [this](const Sample& sample) { add(sample); });
    }

private:
    void add(const Sample& sample) {
        for (int& sum : *sums_) {
            sum += sample.value;
        }
        handled_.fetch_add(1, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t>& handled_;
    std::unique_ptr<std::array<int, 8>> sums_;
    Component<Brief, 2> component_{*this};
};

TEST(BusComponentTest, OwnersComeAndGoWhileMessagesFlow) {
    SmallBus bus;
    std::atomic<std::uint64_t> handled{0};
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "handled %" PRIu64 ", in the bus %zu\n", handled.load(),
                     bus.sizeApprox());
    });
    Crew crew;
    crew.add([&] { bus.run(); });
    crew.add([&] {
        for (auto result = PublishResult::ok; result != PublishResult::closed;) {
            result = bus.publish(Sample{1});
            if (result != PublishResult::ok) {
                std::this_thread::yield();
            }
        }
    });
    crew.start();
    const std::uint64_t rounds = scaled(1000);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint64_t before = handled.load(std::memory_order_relaxed);
        const Brief owner(bus, handled);
        awaitThat([&] { return handled.load(std::memory_order_relaxed) != before; });
    }
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 0U);
    bus.close();
    crew.join();
    EXPECT_GE(handled.load(), rounds);
}

/// Listens to two buses of different types.
struct Bridge final {
    Bridge(SmallBus& one, TightBus& other) {
        component.subscribe<Sample>(one, &Bridge::count);
        component.subscribe<Sample>(other, &Bridge::count);
    }
    void count(const Sample& sample) { sum += sample.value; }

    int sum = 0;
    Component<Bridge, 2> component{*this};
};

TEST(BusComponentTest, OwnerMayListenToSeveralBuses) {
    SmallBus one;
    TightBus other;
    const Bridge bridge(one, other);
    ASSERT_EQ(one.publish(Sample{1}), PublishResult::ok);
    ASSERT_EQ(other.publish(Sample{10}), PublishResult::ok);
    one.process();
    other.process();
    EXPECT_EQ(bridge.sum, 11);
}

}  // namespace
}  // namespace sluice
