#include "support/scale.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"
#include <thread>

// Properties that the tests of admission, priority, overflow, closing and the others do not cover.

namespace sluice {
namespace {

using namespace test;

static_assert(!std::is_copy_constructible_v<TestBus<8>> && !std::is_copy_assignable_v<TestBus<8>>);
static_assert(std::is_same_v<TestBus<8>::MessageTypes, TestMessages>);

TEST(BusTest, ProcessEndsAlthoughItsHandlersKeepPublishing) {
    TestBus<8> bus;
    auto subscription = bus.subscribe<Sample>([&](const Sample& sample) {
        ASSERT_EQ(bus.publish(Sample{sample.value + 1}), SendResult::ok);
    });
    ASSERT_EQ(bus.publish(Sample{0}), SendResult::ok);
    EXPECT_EQ(bus.process(), bus.capacity());
    EXPECT_EQ(bus.process(), bus.capacity());
}

struct NotingPacing {
    void polled(std::size_t count) const { harvests.push_back(count); }
    inline static std::vector<std::size_t> harvests;
};
struct Paced : DeepTraits<200> {
    using Pacing = NotingPacing;
};

TEST(BusTest, RunTellsItsPacingOfEachHarvest) {
    NotingPacing::harvests.clear();  // the tests may be repeated in one process
    Bus<TestMessages, Paced> bus;
    publishSamples(bus, 70);
    bus.close();
    bus.run();
    EXPECT_EQ(NotingPacing::harvests, (std::vector<std::size_t>{70}));
}

#if !defined(NDEBUG) && defined(GTEST_HAS_DEATH_TEST)
TEST(BusDeathTest, SecondConsumerIsNoticed) {
    TestBus<8> bus;
    auto subscription =
        bus.subscribe<Sample>([&](const Sample&) { std::thread([&] { bus.process(); }).join(); });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_DEATH(bus.process(), "a second consumer");
}

TEST(BusDeathTest, ThreadThatWaitsBesideTheConsumerIsNoticed) {
    TestBus<8> bus;
    const auto subscription = bus.subscribe<Sample>([&](const Sample&) {
        std::thread([&] { (void)bus.waitFor(std::chrono::seconds(0)); }).join();
    });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_DEATH(bus.process(), "a second consumer");
}

TEST(BusDeathTest, UnknownPriorityIsNoticed) {
    TestBus<8> bus;
    EXPECT_DEATH((void)bus.publish(Sample{}, static_cast<Priority>(7)), "no such priority");
    EXPECT_DEATH(bus.countAsFull<Sample>(static_cast<Priority>(7)), "no such priority");
}

TEST(BusDeathTest, HandlerThatConsumesFromItsOwnBusIsNoticed) {
    TestBus<8> bus;
    auto subscription = bus.subscribe<Sample>([&](const Sample&) { bus.process(); });
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_DEATH(bus.process(), "a handler consumes from its own bus");
}
#endif

}  // namespace
}  // namespace sluice
