#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/bus_settings.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <type_traits>

namespace sluice {
namespace {

using namespace test;

struct Nothing : BusSettings<BareBusTraits> {};
using Unchanged = BusTraitsFrom<Nothing>;
static_assert(Unchanged::depth == BareBusTraits::depth);
static_assert(!Unchanged::priorities && !Unchanged::statistics && !Unchanged::ids);
static_assert(!Unchanged::senders && Unchanged::timeStamp == TimeStamp::none);
static_assert(std::is_same_v<Unchanged::Wait, BareBusTraits::Wait>);

struct Everything : BusSettings<> {
    constexpr Everything() {
        depth = 64;
        priorities = false;
        rooms = {1, 2, 3};
        overflow = {BusOverflow::block, BusOverflow::blockFor, BusOverflow::dropOldest};
        blockLimit = std::chrono::seconds(2);
        service = PriorityOrder::weighted;
        weights = {3, 5, 7};
        statistics = false;
        ids = false;
        timeStamp = TimeStamp::exact;
        senders = false;
        origins = true;
        traces = true;
        maxMessageSize = 100;
        maxHandlers = 3;
        handlerSize = 24;
        producers = Producers::one;
    }
};
using Changed = BusTraitsFrom<Everything>;
static_assert(Changed::depth == 64 && !Changed::priorities);
static_assert(Changed::rooms[0] == 1 && Changed::rooms[1] == 2 && Changed::rooms[2] == 3);
static_assert(Changed::overflow[0] == BusOverflow::block &&
              Changed::overflow[1] == BusOverflow::blockFor &&
              Changed::overflow[2] == BusOverflow::dropOldest);
static_assert(Changed::blockLimit == std::chrono::seconds(2));
static_assert(Changed::service == PriorityOrder::weighted);
static_assert(Changed::weights[0] == 3 && Changed::weights[1] == 5 && Changed::weights[2] == 7);
static_assert(!Changed::statistics && !Changed::ids && !Changed::senders);
static_assert(Changed::timeStamp == TimeStamp::exact && Changed::origins && Changed::traces);
static_assert(Changed::maxMessageSize == 100 && Changed::maxHandlers == 3);
static_assert(Changed::handlerSize == 24 && Changed::producers == Producers::one);

struct Small : BusSettings<DeepTraits<100>> {
    constexpr Small() {
        rooms = {2, 4, 2};
        maxHandlers = 1;
    }
};

TEST(BusSettingsTest, BusHasTheSettings) {
    Bus<TestMessages, BusTraitsFrom<Small>> bus;
    SendResult result = SendResult::ok;
    EXPECT_EQ(fillUp(bus, Priority::medium, result), 4U);
    EXPECT_EQ(result, SendResult::full);
    const Subscription first = bus.subscribe<Sample>([](const Sample&) {});
    const Subscription second = bus.subscribe<Sample>([](const Sample&) {});
    EXPECT_TRUE(first);
    EXPECT_FALSE(second) << "the table has room for one";
}

}  // namespace
}  // namespace sluice
