#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/functions.hpp>

#include "support/testing.hpp"
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <thread>

namespace sluice::log {
namespace {

using test::CollectingSink;
using test::Errors;
using Texts = std::vector<std::string>;

class LogFunctions : public testing::Test {
protected:
    ~LogFunctions() override {
        shutdown();
        spdlog::set_level(spdlog::level::info);
        spdlog::flush_on(spdlog::level::off);
        spdlog::set_pattern("%+");
    }

    static std::shared_ptr<CollectingSink> sinkOf(const spdlog::logger& logger) {
        return std::static_pointer_cast<CollectingSink>(logger.sinks().front());
    }
};

TEST_F(LogFunctions, InitRefusesWhatSpdlogRefuses) {
    EXPECT_THROW(init(8192, 0), spdlog::spdlog_ex);
    EXPECT_THROW(init(8192, 1001), spdlog::spdlog_ex);
    EXPECT_THROW(init(0, 1), spdlog::spdlog_ex);
    EXPECT_NO_THROW(init(16, 10));
    EXPECT_NO_THROW(init(std::size_t{1} << 30U, 1));
    EXPECT_THROW(init((std::size_t{1} << 30U) + 1, 1), spdlog::spdlog_ex);
}

TEST_F(LogFunctions, InitReplacesTheBackEndAndTheOldOneWritesWhatItHas) {
    init(64, 1);
    const auto old = create_async<CollectingSink>("old");
    Errors errors;
    old->set_error_handler(errors.handler());
    for (int i = 0; i < 50; ++i) {
        old->info("text");
    }
    init(64, 1);
    EXPECT_EQ(sinkOf(*old)->texts().size(), 50u);
    old->info("refused");
    EXPECT_EQ(errors.texts().size(), 1u);
    const auto fresh = create_async<CollectingSink>("fresh");
    fresh->info("text");
    EXPECT_TRUE(flush_wait());
    EXPECT_EQ(sinkOf(*fresh)->texts().size(), 1u);
}

TEST_F(LogFunctions, CreateAsyncRegistersALogger) {
    const auto blocking = create_async<CollectingSink>("blocking");
    const auto dropping = create_async_nb<CollectingSink>("dropping");
    EXPECT_EQ(spdlog::get("blocking"), blocking);
    EXPECT_EQ(dynamic_cast<async_logger&>(*blocking).policy(), Overflow::block);
    EXPECT_EQ(dynamic_cast<async_logger&>(*dropping).policy(), Overflow::dropOldest);
    EXPECT_EQ(async_factory_discard::create<CollectingSink>("discarding")->policy(),
              Overflow::reject);
}

TEST_F(LogFunctions, FactoriesApplySpdlogsSettings) {
    spdlog::set_level(spdlog::level::err);
    spdlog::flush_on(spdlog::level::err);
    spdlog::set_pattern("set %v");
    spdlog::enable_backtrace(7);
    const auto logger = async_factory::create<CollectingSink>("core");
    spdlog::disable_backtrace();
    EXPECT_EQ(logger->level(), spdlog::level::err);
    EXPECT_EQ(logger->flush_level(), spdlog::level::err);
    logger->error("one");
    ASSERT_TRUE(flush_wait());
    const auto sink = sinkOf(*logger);
    EXPECT_EQ(sink->formatted(), std::vector<std::string>{"set one"});
    EXPECT_EQ(sink->linesAtFlush().front(), 1u);
}

TEST_F(LogFunctions, FactoriesRefuseANameThatIsTaken) {
    const auto logger = async_factory::create<CollectingSink>("core");
    EXPECT_THROW(async_factory::create<CollectingSink>("core"), spdlog::spdlog_ex);
}

TEST_F(LogFunctions, ShutdownWritesEverythingAndALaterLoggerBeginsAnew) {
    auto logger = create_async<CollectingSink>("core");
    const auto sink = sinkOf(*logger);
    for (int i = 0; i < 1000; ++i) {
        logger->info("text");
    }
    EXPECT_TRUE(shutdown());
    EXPECT_EQ(sink->texts().size(), 1000u);
    EXPECT_EQ(sink->linesAtFlush(), std::vector<std::size_t>{1000});
    EXPECT_EQ(spdlog::get("core"), nullptr);
    EXPECT_TRUE(flush_wait()) << "there is nothing to wait for";
    const auto fresh = create_async<CollectingSink>("core");
    fresh->info("text");
    EXPECT_TRUE(flush_wait());
    EXPECT_EQ(sinkOf(*fresh)->texts().size(), 1u);
}

TEST_F(LogFunctions, SetPatternGivesEveryLoggerAFormatterOfSluice) {
    const auto before = async_factory::create<CollectingSink>("before");
    set_pattern("%n|%v");
    const auto after = async_factory::create<CollectingSink>("after");
    for (const auto& logger : {before, after}) {
        EXPECT_TRUE(sinkOf(*logger)->hasFormatterOfSluice()) << logger->name();
    }
}

TEST_F(LogFunctions, SetPatternWaitsForTheRecordsLoggedBefore) {
    const auto logger = async_factory::create<CollectingSink>("core");
    set_pattern("old %v");
    for (int i = 0; i < 2000; ++i) {
        logger->info("x");
    }
    set_pattern("new %v");
    logger->info("x");
    ASSERT_TRUE(flush_wait());
    std::vector<std::string> expected(2000, "old x");
    expected.emplace_back("new x");
    EXPECT_EQ(sinkOf(*logger)->formatted(), expected);
}

// spdlog keeps one thread pool, in the place where it is told of its shutdown.
TEST_F(LogFunctions, SpdlogsOwnThreadPoolMayBeMadeEarlierOrLater) {
    for (const bool isEarlier : {true, false}) {
        if (isEarlier) {
            spdlog::init_thread_pool(8, 1);
        }
        const auto ours = create_async<CollectingSink>("ours");
        if (!isEarlier) {
            spdlog::init_thread_pool(8, 1);
        }
        const auto theirs = spdlog::create_async<CollectingSink>("theirs");
        for (int i = 0; i < 1000; ++i) {
            ours->info("text");
            theirs->info("text");
        }
        spdlog::shutdown();
        EXPECT_EQ(sinkOf(*ours)->texts().size(), 1000u) << isEarlier;
        EXPECT_EQ(sinkOf(*theirs)->texts().size(), 1000u) << isEarlier;
    }
}

// spdlog flushes all loggers with its registry locked, and its flush waits for room in the queue.
TEST_F(LogFunctions, FlushEveryFlushesAndNeverWaitsForRoom) {
    const test::Watchdog watchdog([](std::FILE*) {});
    init(4, 1);
    const auto logger = create_async<CollectingSink>("core");
    const auto sink = sinkOf(*logger);
    test::Gate gate;
    sink->onLine = [&](const spdlog::details::log_msg&) { gate.pass(); };
    std::thread caller([&] {
        for (int i = 0; i < 20; ++i) {
            logger->info("text");
        }
    });
    gate.awaitArrival();
    spdlog::details::registry::instance().flush_all();
    EXPECT_EQ(spdlog::get("core"), logger) << "the registry is free";
    gate.open();
    caller.join();
    spdlog::flush_every(std::chrono::seconds(1));
    const std::size_t before = sink->flushes();
    test::awaitThat([&] { return sink->flushes() > before + 1; });
}

class LogMakeAsync : public testing::Test {
protected:
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<backend> writer = std::make_shared<backend>();
    std::shared_ptr<spdlog::logger> old = std::make_shared<spdlog::logger>("core", sink);
};

TEST_F(LogMakeAsync, TheBackEndCallsTheSameSinksAndThoseAddedLater) {
    const auto made = make_async(old, writer);
    ASSERT_EQ(made->sinks(), std::vector<spdlog::sink_ptr>{sink});
    const auto later = std::make_shared<CollectingSink>();
    made->sinks().push_back(later);
    made->info("one");
    ASSERT_TRUE(writer->flush_wait());
    for (const auto& each : {sink, later}) {
        const auto lines = each->lines();
        ASSERT_EQ(lines.size(), 1u);
        EXPECT_EQ(lines[0].logger, "core");
        EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
    }
}

TEST_F(LogMakeAsync, TheSettingsStay) {
    Errors errors;
    old->set_error_handler(errors.handler());
    old->set_level(spdlog::level::warn);
    old->flush_on(spdlog::level::err);
    const auto made = make_async(old, writer, Overflow::reject);
    EXPECT_EQ(made->policy(), Overflow::reject);
    EXPECT_EQ(made->flush_level(), spdlog::level::err);
    made->info("below the level");
    made->warn("one");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"one"});
    writer->shutdown();
    made->warn("two");
    EXPECT_EQ(errors.texts().size(), 1u) << "the error handler has moved over, too";
}

TEST_F(LogMakeAsync, TheRegistryHasTheNewOneIfItHadTheOldOne) {
    const auto other = std::make_shared<spdlog::logger>("core", sink);
    spdlog::register_logger(other);
    static_cast<void>(make_async(old, writer));
    EXPECT_EQ(spdlog::get("core"), other);
    const auto made = make_async(other, writer);
    EXPECT_EQ(spdlog::get("core"), made);
    spdlog::drop("core");
}

TEST_F(LogMakeAsync, AllLoggersOfTheRegistryAreReplaced) {
    const auto synchronous = std::make_shared<spdlog::logger>("synchronous", sink);
    const auto asynchronous = std::make_shared<async_logger>("asynchronous", sink, writer);
    spdlog::register_logger(synchronous);
    spdlog::register_logger(asynchronous);
    const auto before = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("default", sink));
    make_all_async(writer);
    EXPECT_EQ(spdlog::get("asynchronous"), asynchronous);
    EXPECT_NE(std::dynamic_pointer_cast<async_logger>(spdlog::get("synchronous")), nullptr);
    EXPECT_NE(std::dynamic_pointer_cast<async_logger>(spdlog::default_logger()), nullptr);
    spdlog::drop_all();
    spdlog::set_default_logger(before);
}

}  // namespace
}  // namespace sluice::log
