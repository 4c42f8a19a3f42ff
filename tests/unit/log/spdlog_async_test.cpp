#include <sluice/log/spdlog_async.hpp>

#include "support/testing.hpp"
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

namespace sluice::log {
namespace {

TEST(LogSpdlogAsync, NamesAreThoseOfSluice) {
    EXPECT_TRUE((std::is_same_v<spdlog::async_logger, async_logger>));
    EXPECT_TRUE((std::is_same_v<spdlog::async_factory, async_factory>));
    EXPECT_TRUE((std::is_same_v<spdlog::async_factory_impl<>, async_factory>));
    EXPECT_TRUE((std::is_same_v<spdlog::async_factory_nonblock, async_factory_nonblock>));
    constexpr spdlog::async_overflow_policy policy = spdlog::async_overflow_policy::discard_new;
    EXPECT_TRUE((std::is_same_v<spdlog::async_factory_impl<policy>, async_factory_discard>));
    EXPECT_EQ(spdlog::thread_pool(), default_backend());
    EXPECT_NE(spdlog::create_async<spdlog::sinks::null_sink_mt>("blocking"), nullptr);
    EXPECT_NE(spdlog::create_async_nb<spdlog::sinks::null_sink_mt>("dropping"), nullptr);
    spdlog::shutdown();
}

}  // namespace
}  // namespace sluice::log
