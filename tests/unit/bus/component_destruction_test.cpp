#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/component.hpp>

#include "support/testing.hpp"
#include <thread>

// The owner of a Component is destroyed while its handlers run, or with the bus.

namespace sluice {
namespace {

using namespace test;
using SmallBus = TestBus<10>;

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

// The destructor of the bus ends all subscriptions first.
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
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
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

/// Kept alive by a handler, while another handler takes its time.
struct KeptAndSlow final {
    ~KeptAndSlow() { signals.isInsideAtTheEnd = signals.isInside.load(); }
    void keep(SmallBus& bus, std::shared_ptr<KeptAndSlow> self) {
        component.subscribe<Sample>(bus, [&all = signals](const Sample&) {
            all.isInside = true;
            awaitThat([&all] { return all.mayLeave.load(); });
            all.isInside = false;
        });
        component.subscribe<Alarm>(bus, [self = std::move(self)](const Alarm&) {});
    }
    Signals& signals;
    Component<KeptAndSlow, 2> component{*this};
};

TEST(BusComponentTest, OwnerThatAHandlerHoldsOutlivesItsOtherHandlers) {
    SmallBus bus;
    Signals signals;
    std::shared_ptr<KeptAndSlow> owner(new KeptAndSlow{signals});
    owner->keep(bus, owner);
    KeptAndSlow& kept = *owner;
    owner.reset();
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    Crew crew;
    crew.add([&] { bus.process(); });
    crew.add([&] {
        awaitThat([&] { return bus.subscriptionCount<Sample>() == 0; });
        signals.mayLeave = true;
    });
    crew.start();
    awaitThat([&] { return signals.isInside.load(); });
    kept.component.unsubscribeAll();
    EXPECT_FALSE(signals.isInsideAtTheEnd);
}

/// Retires in its handler, while another thread destroys the owner.
class Quitting final {
public:
    Quitting(SmallBus& bus, Signals& signals) : part_{signals} {
        for (int i = 0; i < 6; ++i) {
            component_.subscribe<Alarm>(bus, [](const Alarm&) {});
        }
        component_.subscribe<Sample>(bus, [this](const Sample&) {
            part_.signals.isInside = true;
            component_.unsubscribeAll();
            EXPECT_EQ(component_.count(), 0U);
            for (int i = 0; i < 20; ++i) {
                std::this_thread::yield();  // gives the owner time to go too early
            }
            part_.signals.isInside = false;
            part_.signals.hasRetired = true;
        });
    }

private:
    Part part_;
    Component<Quitting, 8> component_{*this};
};

TEST(BusComponentTest, DestructionWaitsForAHandlerThatIsRetiring) {
    SmallBus bus;
    for (std::uint64_t round = 0; round < scaled(2000); ++round) {
        Signals signals;
        auto owner = std::make_unique<Quitting>(bus, signals);
        ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
        Crew crew;
        crew.add([&] { bus.process(); });
        crew.start();
        awaitThat([&] { return signals.isInside || signals.hasRetired; });
        owner.reset();
        ASSERT_FALSE(signals.isInsideAtTheEnd) << round;
        ASSERT_EQ(bus.subscriptionCount<Alarm>() + bus.subscriptionCount<Sample>(), 0U);
    }
}

}  // namespace
}  // namespace sluice
