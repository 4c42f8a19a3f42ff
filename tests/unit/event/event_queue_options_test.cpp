#include <sluice/event/event_queue_options.hpp>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(EventQueueOptionsTest, AreUnboundedAndRejectByDefault) {
    constexpr EventQueueOptions options;
    EXPECT_EQ(options.limit, unlimited);
    EXPECT_EQ(options.overflow, Overflow::reject);
}

}  // namespace
}  // namespace sluice
