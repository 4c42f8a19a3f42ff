#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/broadcast_bus.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

namespace sluice {
namespace {

using namespace test;

template <std::size_t Groups>
using News = BroadcastBus<TestMessages, Groups, DeepTraits<10>>;

TEST(BroadcastBusTest, EachGroupSeesEveryMessage) {
    News<3> bus;
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(bus.isAccepted(bus.publish(Sample{i})));
    }
    for (std::size_t group = 0; group < bus.size(); ++group) {
        EXPECT_EQ(takeSamples(bus[group]), (std::vector<int>{0, 1, 2, 3, 4}));
    }
}

TEST(BroadcastBusTest, GroupThatIsBehindMissesMessagesAndTheOthersDoNot) {
    News<2> bus;
    std::vector<int> fast;
    for (int i = 0; i < 20; ++i) {
        const auto results = bus.publish(Sample{i});
        EXPECT_EQ(results[0], SendResult::ok);
        EXPECT_EQ(bus.isAccepted(results), i < 6);
        for (const int value : takeSamples(bus[0])) {
            fast.push_back(value);
        }
    }
    EXPECT_EQ(fast.size(), 20U);
    EXPECT_EQ(takeSamples(bus[1]).size(), 6U);
    EXPECT_EQ(bus[1].statistics().total().refused, 14U);
}

TEST(BroadcastBusTest, CloseAndDrainAreForAll) {
    News<2> bus;
    ASSERT_TRUE(bus.isAccepted(bus.publish(Sample{1})));
    Crew crew;
    for (std::size_t group = 0; group < bus.size(); ++group) {
        crew.add([&bus, group] { bus[group].run(); });
    }
    crew.start();
    EXPECT_TRUE(bus.drain(std::chrono::steady_clock::now() + std::chrono::hours(1)));
    EXPECT_EQ(bus.publish(Sample{2})[1], SendResult::closed);
}

TEST(BroadcastBusTest, AllGroupsTellTheObserver) {
    PressureWitness witness;
    BroadcastBus<TestMessages, 2, WitnessedTraits> bus(witness);
    while (bus.isAccepted(bus.publish(Sample{1}, Priority::low))) {
    }
    EXPECT_EQ(witness.changes, 2);
}

TEST(BroadcastBusTest, PublishesWithTheOptionsOfABus) {
    News<2> bus;
    std::size_t taken = 0;
    const auto takeAll = [&](const News<2>::Results& results) {
        EXPECT_TRUE(bus.isAccepted(results));
        for (std::size_t group = 0; group < bus.size(); ++group) {
            taken += bus[group].processWith([](auto&, const auto& header) {
                EXPECT_EQ(header.priority, Priority::high);
                EXPECT_EQ(header.sender, 7U);
            });
        }
    };
    takeAll(bus.publish(Sample{1}, {Priority::high, 7}));
    takeAll(bus.tryPublish(Sample{1}, {Priority::high, 7}));
    takeAll(bus.publishFor(std::chrono::seconds(1), Sample{1}, {Priority::high, 7}));
    EXPECT_EQ(taken, 6U);
    EXPECT_TRUE(bus.isAccepted(bus.tryPublish(Sample{1}, Priority::low)));
}

// One thread serves both groups: it would wait for itself.
TEST(BroadcastBusTest, DrainInAHandlerDoesNotWait) {
    News<2> bus;
    std::atomic<int> calls{0};
    const Watchdog watchdog([&](std::FILE* out) { std::fprintf(out, "%d calls\n", calls.load()); });
    ASSERT_TRUE(bus.isAccepted(bus.publish(Sample{1})));
    for (std::size_t group = 0; group < bus.size(); ++group) {
        bus[group].processWith([&](auto&) {
            ++calls;
            EXPECT_FALSE(bus.drain(std::chrono::steady_clock::now() + std::chrono::hours(1)));
        });
    }
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(bus.publish(Sample{2})[1], SendResult::closed);
    EXPECT_TRUE(bus.drain(std::chrono::steady_clock::now()));
}

TEST(BroadcastBusTest, AcceptsNoMessageWhileItIsDestroyed) {
    using Farewells = BroadcastBus<Messages<Farewell>, 3, DeepTraits<10>>;
    auto bus = std::make_unique<Farewells>();
    Farewells* const address = bus.get();
    std::vector<SendResult> results;
    std::uint64_t closed = 0;
    const auto publishInEach = [&] {
        closed = 0;
        for (std::size_t group = 0; group < Farewells::size(); ++group) {
            results.push_back((*address)[group].publish(Farewell([] {})));
            closed += (*address)[group].statistics().total().closed;
        }
    };
    for (std::size_t group = 0; group < Farewells::size(); ++group) {
        ASSERT_EQ((*bus)[group].publish(Farewell(publishInEach)), SendResult::ok);
    }
    bus.reset();
    EXPECT_EQ(results, std::vector<SendResult>(3 * 3, SendResult::closed));
    EXPECT_EQ(closed, 9U) << "each bus lives until the last message has gone";
}

}  // namespace
}  // namespace sluice
