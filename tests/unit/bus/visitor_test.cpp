#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;

TEST(BusVisitorTest, OverloadIsChosenByTheType) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    ASSERT_EQ(bus.publish(Alarm{"fire"}), PublishResult::ok);
    ASSERT_EQ(bus.publish(Counted(3)), PublishResult::ok);
    std::vector<std::string> seen;
    EXPECT_EQ(
        bus.processWith(overload([&](Sample& each) { seen.push_back(std::to_string(each.value)); },
                                 [&](const Alarm& alarm) { seen.push_back(alarm.text); },
                                 [&](const Counted&, const auto& header) {
                                     seen.push_back(toString(header.priority));
                                 })),
        3U);
    EXPECT_EQ(seen, (std::vector<std::string>{"1", "fire", "medium"}));
}

TEST(BusVisitorTest, PartialVisitorLeavesTheOthersToNobody) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Alarm{}), PublishResult::ok);
    ASSERT_EQ(bus.publish(Sample{5}), PublishResult::ok);
    int sum = 0;
    EXPECT_EQ(bus.processWith(partial([&](const Sample& sample) { sum += sample.value; })), 2U);
    EXPECT_EQ(sum, 5);
    EXPECT_EQ(bus.statistics().total().delivered, 2U);
}

TEST(BusVisitorTest, VisitorMayTakeTheMessage) {
    Bus<Messages<std::unique_ptr<int>>, DeepTraits<10>> bus;
    ASSERT_EQ(bus.publish(std::make_unique<int>(7)), PublishResult::ok);
    std::unique_ptr<int> taken;
    bus.processWith([&](std::unique_ptr<int>& message) { taken = std::move(message); });
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, 7);
}

TEST(BusVisitorTest, VisitorKeepsItsState) {
    struct Summing {
        int sum = 0;
        void operator()(const Sample& sample) { sum += sample.value; }
        void operator()(const Alarm&) {}
        void operator()(const Counted&) {}
    };
    TestBus<10> bus;
    Summing visitor;
    for (int i = 1; i <= 3; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
        bus.processWith(visitor);
    }
    EXPECT_EQ(visitor.sum, 6);
}

}  // namespace
}  // namespace sluice
