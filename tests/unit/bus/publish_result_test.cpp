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

TEST(PublishResultTest, HasANameForEachValue) {
    EXPECT_STREQ(toString(PublishResult::ok), "ok");
    EXPECT_STREQ(toString(PublishResult::full), "full");
    EXPECT_STREQ(toString(PublishResult::refused), "refused");
    EXPECT_STREQ(toString(PublishResult::closed), "closed");
    EXPECT_STREQ(toString(static_cast<PublishResult>(99)), "unknown PublishResult");
}

}  // namespace
}  // namespace sluice
