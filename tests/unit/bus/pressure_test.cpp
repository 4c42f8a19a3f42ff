#include "support/interrupting_platform.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

struct Watcher : BusObserver {
    void pressureChanged(Pressure before, Pressure now) noexcept {
        changes.emplace_back(before, now);
    }
    std::vector<std::pair<Pressure, Pressure>> changes;
};
struct Watched : DeepTraits<10> {
    using Observer = Watcher;
};

TEST(BusPressureTest, LevelsAreSharesOfTheRoom) {
    TestBus<10, BareBusTraits> bus;
    using P = Pressure;
    for (const Pressure expected : {P::normal, P::normal, P::normal, P::normal, P::normal,
                                    P::normal, P::normal, P::warning, P::critical, P::full}) {
        ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
        EXPECT_EQ(bus.pressure(), expected);
    }
    static_assert(pressureOf(0, 1) == P::normal && pressureOf(1, 1) == P::full);
    static_assert(pressureOf(74, 100) == P::normal && pressureOf(75, 100) == P::warning);
    static_assert(pressureOf(89, 100) == P::warning && pressureOf(90, 100) == P::critical);
    static_assert(pressureOf(2, 3) == P::normal && pressureOf(3, 3) == P::full);
}

struct WatchedRooms : Watched {
    static constexpr std::array<std::size_t, priorityCount> rooms{20, 4, 30};
};

// The fullest room decides, whichever it is.
TEST(BusPressureTest, ObserverHearsOfEachChangeOnce) {
    Watcher watcher;
    Bus<TestMessages, WatchedRooms> bus(watcher);
    const auto send = [&](int count, Priority priority) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(bus.publish(Sample{}, priority), SendResult::ok);
        }
    };
    send(15, Priority::low);   // warning: 75 %
    send(26, Priority::high);  // still, at 87 %
    send(1, Priority::high);   // critical: 90 %
    send(4, Priority::low);    // still, at 95 %
    send(4, Priority::medium);
    (void)bus.publish(Sample{}, Priority::medium);
    send(3, Priority::high);
    bus.process();
    bus.process();
    using P = Pressure;
    EXPECT_EQ(watcher.changes, (std::vector<std::pair<P, P>>{{P::normal, P::warning},
                                                             {P::warning, P::critical},
                                                             {P::critical, P::full},
                                                             {P::full, P::normal}}));
}

#if defined(__cpp_exceptions)
TEST(BusPressureTest, ObserverHearsOfWhatAThrowingVisitorHasBroughtAbout) {
    Watcher watcher;
    Bus<TestMessages, Watched> bus(watcher);
    SendResult result = SendResult::ok;
    ASSERT_EQ(fillUp(bus, Priority::low, result), 2U);
    EXPECT_THROW(bus.processWith(partial([](Sample&) { throw 1; })), int);
    using P = Pressure;
    EXPECT_EQ(watcher.changes,
              (std::vector<std::pair<P, P>>{{P::normal, P::full}, {P::full, P::normal}}));
}
#endif

// Messages pass through the bus while a thread counts them. They were not in the bus at the same
// time.
struct Interrupted : DeepTraits<16> {
    using Platform = InterruptingPlatform;
    using Wait = BasicBusySpin<InterruptingPlatform>;
    using Observer = Watcher;
};
struct Scene {
    Watcher watcher;
    Bus<TestMessages, Interrupted> bus{watcher};
    Pressure pressure = Pressure::normal;
    std::size_t size = 0;

    void passThrough() {
        for (int i = 0; i < 12; ++i) {
            ASSERT_EQ(bus.publish(Sample{}, Priority::high), SendResult::ok);
            ASSERT_NE(bus.process(), 0U);
        }
    }
};

TEST(BusPressureTest, MessagesThatPassThroughAreNotTakenForAQueue) {
    const std::size_t accesses =
        interruptEverywhere([] { return std::make_unique<Scene>(); },
                            [](Scene& scene) {
                                scene.pressure = scene.bus.pressure();
                                scene.size = scene.bus.sizeApprox();
                            },
                            [](Scene& scene) { scene.passThrough(); },
                            [](const Scene& scene) {
                                EXPECT_EQ(scene.pressure, Pressure::normal);
                                EXPECT_EQ(scene.size, 0U);
                            });
    EXPECT_GE(accesses, 4U);
}

struct InterruptedDrops
    : OverflowTraits<Overflow::dropOldest, Overflow::dropOldest, Overflow::dropOldest> {
    using Platform = InterruptingPlatform;
    using Wait = BasicBusySpin<InterruptingPlatform>;
};

// At any step of the consumer: the message is queued, or it is handled, not both.
TEST(BusPressureTest, MessageThatIsTakenOutCountsOnce) {
    using DroppingBus = Bus<TestMessages, InterruptedDrops>;
    const auto make = [] {
        auto bus = std::make_unique<DroppingBus>();
        EXPECT_EQ(bus->publish(Sample{}, Priority::high), SendResult::ok);
        return bus;
    };
    EXPECT_GE(interruptEverywhere(
                  make, [](DroppingBus& bus) { EXPECT_EQ(bus.process(), 1U); },
                  [](DroppingBus& bus) {
                      EXPECT_LE(bus.sizeApprox(), 1U);
                      EXPECT_EQ(bus.pressure(), Pressure::normal);
                      EXPECT_LE(bus.statistics().highWater, 1U);
                  },
                  [](DroppingBus&) {}),
              8U);
}

/// Does to the bus everything that an observer might do.
struct Meddler : BusObserver {
    void pressureChanged(Pressure, Pressure now) noexcept;
    std::function<void(Pressure)> meddle;
};
struct Meddled : OverflowTraits<Overflow::dropOldest, Overflow::reject, Overflow::reject> {
    using Observer = Meddler;
};
void Meddler::pressureChanged(Pressure, Pressure now) noexcept {
    if (meddle) {
        std::exchange(meddle, nullptr)(now);
    }
}

// Called under no lock: it would wait for itself.
TEST(BusPressureTest, ObserverMayUseTheBus) {
    Meddler meddler;
    Bus<TestMessages, Meddled> bus(meddler);
    Subscription subscription;
    const auto meddle = [&](Pressure now) {
        EXPECT_EQ(bus.pressure(), now);
        subscription = bus.subscribe<Sample>([](const Sample&) {});
        EXPECT_EQ(bus.publish(Sample{}, Priority::low), SendResult::ok);
        EXPECT_EQ(bus.statistics().total().attempted(), bus.statistics().total().published);
    };
    meddler.meddle = meddle;
    publishSamples(bus, 8, Priority::low);
    EXPECT_FALSE(meddler.meddle) << "the publisher has told it";
    EXPECT_TRUE(subscription);
    meddler.meddle = meddle;
    bus.process();
    EXPECT_FALSE(meddler.meddle) << "the consumer has told it";
    EXPECT_EQ(bus.sizeApprox(), 1U);
}

}  // namespace
}  // namespace sluice
