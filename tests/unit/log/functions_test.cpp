#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/functions.hpp>

#include <gtest/gtest.h>
#include <spdlog/async.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log {
namespace {

using test::CollectingSink;

class LogFunctions : public testing::Test {
protected:
    ~LogFunctions() override { shutdown(); }

    static std::shared_ptr<CollectingSink> sinkOf(const spdlog::logger& logger) {
        return std::static_pointer_cast<CollectingSink>(logger.sinks().front());
    }
};

TEST_F(LogFunctions, InitRefusesWhatSpdlogRefuses) {
    EXPECT_THROW(init(8192, 0), spdlog::spdlog_ex);
    EXPECT_THROW(init(8192, 1001), spdlog::spdlog_ex);
    EXPECT_THROW(init(0, 1), spdlog::spdlog_ex);
    EXPECT_NO_THROW(init(16, 10));
}

TEST_F(LogFunctions, InitMakesRoomForSoManyShortMessages) {
    constexpr std::size_t size = std::size_t{1} << 16U;
    init(size, 1);
    const auto logger = async_factory_discard::create<test::GatedSink>("core");
    const auto sink = std::static_pointer_cast<test::GatedSink>(logger->sinks().front());
    for (std::size_t i = 0; i < size; ++i) {
        logger->info("short");
    }
    EXPECT_EQ(default_backend()->discard_counter(), 0u);
    sink->gate.open();
    EXPECT_TRUE(flush_wait());
    EXPECT_EQ(sink->texts().size(), size);
}

TEST_F(LogFunctions, InitTakesTheLargestSize) {
    EXPECT_NO_THROW(init(std::size_t{1} << 30U, 1));
    EXPECT_THROW(init((std::size_t{1} << 30U) + 1, 1), spdlog::spdlog_ex);
}

TEST_F(LogFunctions, InitRunsItsHooks) {
    std::atomic<int> starts{0};
    std::atomic<int> stops{0};
    init(
        64, 1, [&] { ++starts; }, [&] { ++stops; });
    const auto logger = create_async<CollectingSink>("core");
    logger->info("text");
    EXPECT_TRUE(flush_wait());
    EXPECT_EQ(starts, 1);
    EXPECT_EQ(stops, 0);
    EXPECT_TRUE(shutdown());
    EXPECT_EQ(stops, 1);
}

TEST_F(LogFunctions, InitReplacesTheBackEndAndTheOldOneWritesWhatItHas) {
    init(64, 1);
    const auto old = create_async<CollectingSink>("old");
    test::Errors errors;
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
}

TEST_F(LogFunctions, DroppedLoggersAreWrittenToTheEnd) {
    auto logger = create_async<CollectingSink>("core");
    const auto sink = sinkOf(*logger);
    for (int i = 0; i < 1000; ++i) {
        logger->info("text");
    }
    logger.reset();
    spdlog::drop("core");
    EXPECT_TRUE(flush_wait());
    EXPECT_EQ(sink->texts().size(), 1000u);
}

TEST_F(LogFunctions, ShutdownWritesEverythingAndALaterLoggerBeginsAnew) {
    auto logger = create_async<CollectingSink>("core");
    const auto sink = sinkOf(*logger);
    for (int i = 0; i < 1000; ++i) {
        logger->info("text");
    }
    EXPECT_TRUE(shutdown());
    EXPECT_EQ(sink->texts().size(), 1000u);
    EXPECT_EQ(spdlog::get("core"), nullptr);
    EXPECT_TRUE(flush_wait()) << "there is nothing to wait for";
    const auto fresh = create_async<CollectingSink>("core");
    fresh->info("text");
    EXPECT_TRUE(flush_wait());
    EXPECT_EQ(sinkOf(*fresh)->texts().size(), 1u);
}

/// Ends the program's logging the way that a program written for spdlog does.
TEST_F(LogFunctions, SetPatternGivesEveryLoggerAFormatterOfSluice) {
    const auto before = async_factory::create<CollectingSink>("before");
    set_pattern("%n|%v");
    const auto after = async_factory::create<CollectingSink>("after");
    for (const auto& logger : {before, after}) {
        EXPECT_TRUE(sinkOf(*logger)->hasFormatterOfSluice()) << logger->name();
    }
    spdlog::set_pattern("%+");
}

TEST_F(LogFunctions, ShutdownOfSpdlogWritesAndFlushesWhatWasLogged) {
    const auto logger = create_async<CollectingSink>("core");
    const auto sink = sinkOf(*logger);
    for (std::size_t i = 0; i < 8000; ++i) {
        logger->info(i);
    }
    spdlog::shutdown();
    EXPECT_EQ(sink->texts().size(), 8000u);
    EXPECT_EQ(sink->linesAtFlush(), std::vector<std::size_t>{8000});
    const auto fresh = create_async<CollectingSink>("core");
    fresh->info("text");
    spdlog::shutdown();
    EXPECT_EQ(sinkOf(*fresh)->texts().size(), 1u);
}

TEST_F(LogFunctions, ShutdownFlushesTheSinksOfLoggersThatAreHeld) {
    const auto logger = create_async<CollectingSink>("core");
    const auto sink = sinkOf(*logger);
    logger->info("text");
    EXPECT_TRUE(shutdown());
    EXPECT_EQ(sink->linesAtFlush(), std::vector<std::size_t>{1});
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

}  // namespace
}  // namespace sluice::log
