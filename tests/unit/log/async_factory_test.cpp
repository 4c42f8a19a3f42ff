#include "support/log_sinks.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/async_factory.hpp>

#include <gtest/gtest.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace sluice::log {
namespace {

class LogAsyncFactory : public testing::Test {
protected:
    ~LogAsyncFactory() override {
        spdlog::drop_all();
        set_default_backend(nullptr);
        spdlog::set_level(spdlog::level::info);
        spdlog::flush_on(spdlog::level::off);
        spdlog::set_pattern("%+");
    }

    test::TemporaryFolder folder;
};

/// All of spdlog's functions that make console loggers.
template <class Factory>
void makeConsoleLoggers() {
    const auto made = {
        spdlog::stdout_color_mt<Factory>("stdout color mt"),
        spdlog::stdout_color_st<Factory>("stdout color st"),
        spdlog::stderr_color_mt<Factory>("stderr color mt"),
        spdlog::stderr_color_st<Factory>("stderr color st"),
        spdlog::stdout_logger_mt<Factory>("stdout mt"),
        spdlog::stdout_logger_st<Factory>("stdout st"),
        spdlog::stderr_logger_mt<Factory>("stderr mt"),
        spdlog::stderr_logger_st<Factory>("stderr st"),
    };
    for (const auto& logger : made) {
        EXPECT_NE(dynamic_cast<async_logger*>(logger.get()), nullptr) << logger->name();
        spdlog::drop(logger->name());
    }
}

TEST_F(LogAsyncFactory, MakesConsoleLoggers) {
    makeConsoleLoggers<async_factory>();
    makeConsoleLoggers<async_factory_nonblock>();
    makeConsoleLoggers<async_factory_discard>();
}

TEST_F(LogAsyncFactory, ServesSpdlogsOwnFunctions) {
    const std::string file = folder / "log.txt";
    {
        const std::shared_ptr<spdlog::logger> logger =
            spdlog::basic_logger_mt<async_factory>("core", file);
        EXPECT_NE(dynamic_cast<async_logger*>(logger.get()), nullptr);
        EXPECT_EQ(spdlog::get("core"), logger);
        logger->set_pattern("%n %v");
        for (int i = 0; i < 1000; ++i) {
            logger->info("line {}", i);
        }
        logger->flush();
        ASSERT_TRUE(default_backend()->flush_wait());
    }
    const std::string content = test::contentOf(file);
    EXPECT_EQ(content.substr(0, 12), "core line 0\n");
    EXPECT_EQ(content.substr(content.size() - 14), "core line 999\n");
}

TEST_F(LogAsyncFactory, TakesOverSpdlogsSettings) {
    spdlog::set_level(spdlog::level::err);
    spdlog::flush_on(spdlog::level::err);
    spdlog::set_pattern("set %v");
    spdlog::enable_backtrace(7);
    const auto logger = async_factory::create<test::CollectingSink>("core");
    spdlog::disable_backtrace();
    EXPECT_EQ(logger->level(), spdlog::level::err);
    EXPECT_EQ(logger->flush_level(), spdlog::level::err);
    logger->error("one");
    ASSERT_TRUE(default_backend()->flush_wait());
    const auto sink = std::static_pointer_cast<test::CollectingSink>(logger->sinks().front());
    EXPECT_EQ(sink->formatted(), std::vector<std::string>{"set one"});
    EXPECT_EQ(sink->linesAtFlush().front(), 1u);
}

TEST_F(LogAsyncFactory, EachHasItsPolicy) {
    EXPECT_EQ(async_factory::create<test::CollectingSink>("a")->policy(), Overflow::block);
    EXPECT_EQ(async_factory_nonblock::create<test::CollectingSink>("b")->policy(),
              Overflow::dropOldest);
    EXPECT_EQ(async_factory_discard::create<test::CollectingSink>("c")->policy(), Overflow::reject);
}

TEST_F(LogAsyncFactory, RefusesANameThatIsTaken) {
    const auto logger = async_factory::create<test::CollectingSink>("core");
    EXPECT_THROW(async_factory::create<test::CollectingSink>("core"), spdlog::spdlog_ex);
}

TEST_F(LogAsyncFactory, AFileThatCannotBeOpenedThrowsAsInSpdlog) {
    EXPECT_THROW(spdlog::basic_logger_mt<async_factory>("core", "/dev/null/no/file"),
                 spdlog::spdlog_ex);
}

}  // namespace
}  // namespace sluice::log
