#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>

namespace sluice {
namespace {

using namespace test;

using DeepBus = TestBus<131072>;

struct Outcome {
    std::array<std::size_t, priorityCount> sent{};
    std::array<std::size_t, priorityCount> accepted{};
};

/// Publishes `count` messages while nobody consumes: of five, one of high priority and two each of
/// the others, but the first `onlyMedium` of medium priority.
Outcome flood(DeepBus& bus, std::size_t count, std::array<std::size_t, 5> pattern) {
    Outcome outcome;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t level = pattern[i % pattern.size()];
        ++outcome.sent[level];
        if (bus.publish(Sample{static_cast<int>(i)}, static_cast<Priority>(level)) ==
            PublishResult::ok) {
            ++outcome.accepted[level];
        }
    }
    return outcome;
}

// The well-known overload experiment: a paused consumer, 131072 slots, 150000 messages. What is
// accepted follows from the limits alone: low ends when 78643 slots are in use, medium at 104857.
TEST(BusOverloadTest, HighIsLostLastOfAll) {
    const auto bus = std::make_unique<DeepBus>();
    const Outcome outcome = flood(*bus, 150000, {2, 1, 1, 0, 0});
    EXPECT_EQ(outcome.sent, (std::array<std::size_t, 3>{60000, 60000, 30000}));
    EXPECT_EQ(outcome.accepted[2], 30000U) << "nothing of high priority is lost";
    EXPECT_LT(outcome.accepted[0], outcome.accepted[1]);
    EXPECT_TRUE(areBalanced(*bus, 150000));

    std::array<std::size_t, 3> delivered{};
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

// A longer one, which reaches the limit of high priority as well.
TEST(BusOverloadTest, HighIsRefusedAtItsOwnLimit) {
    const auto bus = std::make_unique<DeepBus>();
    const Outcome outcome = flood(*bus, 400000, {2, 1, 1, 0, 0});
    EXPECT_EQ(outcome.accepted[0] + outcome.accepted[1] + outcome.accepted[2], 129761U);
    EXPECT_EQ(bus->pressure(), Pressure::full);
    EXPECT_EQ(bus->statistics().ofPriority(Priority::high).full,
              outcome.sent[2] - outcome.accepted[2]);
    EXPECT_TRUE(areBalanced(*bus, 400000));
}

}  // namespace
}  // namespace sluice
