#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace test;

// Each result has its reason, and leaves the message alone.
TEST(PublishResultTest, SaysWhyAMessageWasNotAccepted) {
    TestBus<10> bus;
    PublishResult result = PublishResult::ok;
    fillUp(bus, Priority::medium, result);
    EXPECT_EQ(result, PublishResult::refused) << "high has room";
    fillUp(bus, Priority::high, result);
    EXPECT_EQ(result, PublishResult::full);
    EXPECT_EQ(bus.publish(Sample{}, Priority::low), PublishResult::ok);
    bus.close();
    EXPECT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::closed);
}

}  // namespace
}  // namespace sluice
