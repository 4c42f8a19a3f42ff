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

}  // namespace
}  // namespace sluice::log
