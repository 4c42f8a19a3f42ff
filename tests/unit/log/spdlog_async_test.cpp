#include <sluice/log/spdlog_async.hpp>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <type_traits>

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
    spdlog::shutdown();
}

TEST(LogSpdlogAsync, AProgramWithAPoolOfItsOwnChangesItsIncludeAlone) {
    std::ostringstream lines;
    std::atomic<int> starts{0};
    std::atomic<int> stops{0};
    spdlog::init_thread_pool(
        8192, 1, [&starts] { ++starts; }, [&stops] { ++stops; });
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(lines);
    auto made = std::make_shared<spdlog::async_logger>("made", sink, spdlog::thread_pool(),
                                                       spdlog::async_overflow_policy::block);
    made->set_pattern("%v");
    spdlog::register_logger(made);
    auto other = spdlog::create_async_nb<spdlog::sinks::ostream_sink_mt>("other", lines);
    other->set_pattern("%n %v");
    made->info("one");
    other->info("two");
    made.reset();
    other.reset();
    spdlog::shutdown();
    EXPECT_EQ(lines.str(), "one\nother two\n");
    EXPECT_EQ(starts.load(), 1);
    EXPECT_EQ(stops.load(), 1);
}

}  // namespace
}  // namespace sluice::log
