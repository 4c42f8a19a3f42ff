#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

TEST(BusVisitorTest, PartialVisitorLeavesTheOthersToNobody) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Alarm{}), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{5}), SendResult::ok);
    int sum = 0;
    EXPECT_EQ(bus.processWith(partial([&](const Sample& sample) { sum += sample.value; })), 2U);
    EXPECT_EQ(sum, 5);
    EXPECT_EQ(bus.statistics().of(1, Priority::medium).unhandled, 1U);
    EXPECT_EQ(bus.statistics().total().delivered, 1U);
    EXPECT_TRUE(areBalanced(bus, 2));
}

TEST(BusVisitorTest, VisitorMayTakeTheMessage) {
    Bus<Messages<std::unique_ptr<int>>, DeepTraits<10>> bus;
    ASSERT_EQ(bus.publish(std::make_unique<int>(7)), SendResult::ok);
    std::unique_ptr<int> taken;
    bus.processWith([&](std::unique_ptr<int>& message) { taken = std::move(message); });
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, 7);
}

struct Event {
    int value = 0;
    void count() const { ++counted; }
    inline static int counted = 0;
};
struct Started : Event {};

void countEvent(const Event& event) {
    event.count();
}
void addEvent(const Event& event, int& sum) {
    sum += event.value;
}

// A visitor may take a message by its own type or by a base of that type.
TEST(BusVisitorTest, MessageIsTakenInEveryFormButByConversion) {
    using TheBus = Bus<Messages<int, double, Started>, DeepTraits<10>>;
    TheBus bus;
    const auto send = [&] {
        ASSERT_EQ(bus.publish(1), SendResult::ok);
        ASSERT_EQ(bus.publish(0.5), SendResult::ok);
        ASSERT_EQ(bus.publish(Started{{4}}), SendResult::ok);
    };
    double sum = 0;
    int events = 0;
    send();
    bus.processWith(overload([&](int each) { sum += each; },
                             [&](const double& each) { sum += each; },
                             [&](const Event& each) { addEvent(each, events); }));
    EXPECT_EQ(sum, 1.5);
    EXPECT_EQ(events, 4);
    send();
    bus.processWith(overload([&](double& each, const TheBus::Header&) mutable { sum += each; },
                             [&](const auto& each) {
                                 using T = std::decay_t<decltype(each)>;
                                 static_assert(!std::is_same_v<T, double>);
                                 ++events;
                             }));
    EXPECT_EQ(sum, 2.0);
    EXPECT_EQ(events, 6);
    send();
    bus.processWith(partial([&](int each) noexcept { sum += each; }));
    EXPECT_EQ(sum, 3.0) << "the double is left to nobody";
    send();
    const auto one = overload([&](const double& each) { sum += each; });
    bus.processWith(partial(one));
    EXPECT_EQ(sum, 3.5);
    Bus<Messages<Started>, DeepTraits<10>> started;
    ASSERT_EQ(started.publish(Started{{5}}), SendResult::ok);
    ASSERT_EQ(started.publish(Started{{5}}), SendResult::ok);
    ASSERT_EQ(started.publish(Started{{5}}), SendResult::ok);
    Event::counted = 0;
    EXPECT_EQ(started.processWith(&countEvent, 1), 1U);
    EXPECT_EQ(started.processWith(countEvent, 1), 1U);
    EXPECT_EQ(started.processWith(&Event::count, 1), 1U);
    EXPECT_EQ(Event::counted, 3);
}

}  // namespace
}  // namespace sluice
