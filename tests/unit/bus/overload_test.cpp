#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>

namespace sluice {
namespace {

using namespace test;

using DeepBus = TestBus<131072>;

using Counts = std::array<std::size_t, priorityCount>;  // of low, medium, high

struct Outcome {
    Counts sent{};
    Counts accepted{};
};

/// Publishes `count` messages while nobody consumes: of ten, two of high priority, three of medium,
/// and five of low.
Outcome flood(DeepBus& bus, std::size_t count) {
    constexpr std::array<std::size_t, 10> levels{2, 2, 1, 1, 1, 0, 0, 0, 0, 0};
    Outcome outcome;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t level = levels[i % levels.size()];
        ++outcome.sent[level];
        if (bus.publish(Sample{static_cast<int>(i)}, static_cast<Priority>(level)) ==
            SendResult::ok) {
            ++outcome.accepted[level];
        }
    }
    return outcome;
}

// The well-known overload experiment: a paused consumer, 131072 slots, 150000 messages. The rooms
// alone determine the accepted messages: 32768 of low priority, and all of the others.
TEST(BusOverloadTest, OnlyLowIsLost) {
    const auto bus = std::make_unique<DeepBus>();
    const Outcome outcome = flood(*bus, 150000);
    EXPECT_EQ(outcome.sent, (Counts{75000, 45000, 30000}));
    EXPECT_EQ(outcome.accepted, (Counts{32768, 45000, 30000})) << "lost: 56.3, 0 and 0 %";
    EXPECT_EQ(bus->statistics().ofPriority(Priority::low).full, 75000U - 32768U);
    EXPECT_EQ(bus->statistics().ofPriority(Priority::medium).rejected(), 0U);
    EXPECT_EQ(bus->statistics().ofPriority(Priority::high).rejected(), 0U);
    EXPECT_EQ(bus->pressure(), Pressure::warning);
    EXPECT_TRUE(areBalanced(*bus, 150000));

    Counts delivered{};
    std::size_t orderBroken = 0;
    Priority last = Priority::high;
    while (bus->processWith(partial([&](Sample&, const auto& header) {
        ++delivered[static_cast<std::size_t>(header.priority)];
        orderBroken += header.priority > last ? 1 : 0;
        last = header.priority;
    })) != 0) {
    }
    EXPECT_EQ(delivered, outcome.accepted);
    EXPECT_EQ(orderBroken, 0U);
    EXPECT_TRUE(areBalanced(*bus, 150000));
}

// A longer one, which fills the other rooms as well.
TEST(BusOverloadTest, EachIsRefusedWhenItsOwnRoomIsFull) {
    const auto bus = std::make_unique<DeepBus>();
    const Outcome outcome = flood(*bus, 400000);
    EXPECT_EQ(outcome.sent, (Counts{200000, 120000, 80000}));
    EXPECT_EQ(outcome.accepted, (Counts{32768, 65536, 32768}));
    EXPECT_EQ(bus->pressure(), Pressure::full);
    EXPECT_EQ(bus->statistics().ofPriority(Priority::high).full,
              outcome.sent[2] - outcome.accepted[2]);
    EXPECT_TRUE(areBalanced(*bus, 400000));
}

}  // namespace
}  // namespace sluice
