#include <sluice/log/backend_options.hpp>

#include <gtest/gtest.h>

namespace sluice::log {
namespace {

TEST(LogBackendOptions, DefaultsLoseNothingAndKeepTheOrderStrict) {
    const backend_options options;
    EXPECT_EQ(options.queue_size, 8192u) << "as in spdlog";
    EXPECT_EQ(options.max_hold, no_limit);
    EXPECT_EQ(options.drain_timeout, no_limit);
    EXPECT_LT(options.cpu, 0);
    EXPECT_FALSE(options.on_thread_start || options.on_thread_stop);
}

TEST(LogBackendOptions, BytesGrowWithTheMessagesUnlessTheyAreSet) {
    backend_options options;
    EXPECT_EQ(options.bytes_of_room(), std::size_t{1} << 20U);
    options.queue_size = std::size_t{1} << 20U;
    EXPECT_EQ(options.bytes_of_room(), std::size_t{1} << 27U);
    options.queue_size = std::size_t{1} << 29U;
    EXPECT_EQ(options.bytes_of_room(), std::size_t{1} << 30U);
    options.queue_bytes = 4096;
    EXPECT_EQ(options.bytes_of_room(), 4096U);
}

}  // namespace
}  // namespace sluice::log
