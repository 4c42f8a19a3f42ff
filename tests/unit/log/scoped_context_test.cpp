#include "support/log_sinks.hpp"

#include <sluice/log/async_sink.hpp>
#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/scoped_context.hpp>
#include <sluice/log/with.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log::test {
namespace {

using sluice::test::CollectingSink;

class ScopedContextTest : public testing::Test {
protected:
    std::vector<std::string> texts() {
        EXPECT_TRUE(by->flush_wait());
        return sink->texts();
    }

    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(ScopedContextTest, EveryRecordOfTheScopeHasThePairs) {
    logger->info("before");
    {
        const scoped_context context(kv("request", 17), kv("user", "ann"));
        logger->info("plain");
        SLUICE_LOG_INFO(logger, "deferred {}", 1);
        SLUICE_LOG_INFO(logger, "pairs", kv("a", 1));
        with(logger, kv("b", 2)).info("with");
    }
    logger->info("after");
    EXPECT_EQ(texts(), (std::vector<std::string>{"before", "plain request=17 user=ann",
                                                 "deferred 1 request=17 user=ann",
                                                 "pairs request=17 user=ann a=1",
                                                 "with request=17 user=ann b=2", "after"}));
}

TEST_F(ScopedContextTest, ScopesNestAndRestore) {
    const scoped_context outer(kv("a", 1), kv("b", 2));
    {
        const scoped_context inner(kv("a", 3), kv("c", 4));
        logger->info("inner");
    }
    logger->info("outer");
    EXPECT_EQ(texts(), (std::vector<std::string>{"inner b=2 a=3 c=4", "outer a=1 b=2"}));
}

TEST_F(ScopedContextTest, ValuesAreThoseOfTheMomentOfTheCall) {
    const std::string first(100, 'x');
    {
        const scoped_context context(kv("value", first));
        for (int i = 0; i < 100; ++i) {
            logger->info("line");
        }
    }
    const scoped_context context(kv("value", std::string(100, 'y')));
    EXPECT_EQ(texts(), std::vector<std::string>(100, "line value=" + first));
}

TEST_F(ScopedContextTest, AThreadHasItsOwn) {
    const scoped_context context(kv("a", 1));
    std::thread([this] { logger->info("other"); }).join();
    logger->info("this");
    EXPECT_EQ(texts(), (std::vector<std::string>{"other", "this a=1"}));
}

TEST_F(ScopedContextTest, LinesOfABacktraceHaveNone) {
    logger->enable_backtrace(4);
    logger->set_level(spdlog::level::err);
    logger->info("kept");
    const scoped_context context(kv("a", 1));
    logger->dump_backtrace();
    logger->error("last");
    const std::vector<std::string> lines = texts();
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[1], "kept");
    EXPECT_EQ(lines[3], "last a=1");
}

TEST_F(ScopedContextTest, AnAsyncSinkTakesIt) {
    spdlog::logger plain("plain", std::make_shared<async_sink>(sink, by));
    const scoped_context context(kv("a", 1));
    plain.info("text");
    EXPECT_EQ(texts(), std::vector<std::string>{"text a=1"});
}

}  // namespace
}  // namespace sluice::log::test
