#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/detail/thread_mdc.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/scoped_context.hpp>
#include <sluice/log/signal_scope.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log::test {
namespace {

using sluice::test::CollectingSink;

#if SLUICE_LOG_HAS_MDC

class LogMdc : public testing::Test {
protected:
    ~LogMdc() override { spdlog::mdc::clear(); }

    std::vector<std::string> texts() {
        EXPECT_TRUE(by->flush_wait());
        return sink->texts();
    }

    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(LogMdc, RecordsHaveTheMdcOfTheMomentOfTheCall) {
    spdlog::mdc::put("a", "1");
    logger->info("plain");
    SLUICE_LOG_INFO(logger, "deferred", kv("c", 3));
    spdlog::mdc::put("a", "2");
    const scoped_context context(kv("b", 2));
    logger->info("both");
    spdlog::mdc::clear();
    logger->info("context");
    EXPECT_EQ(texts(), (std::vector<std::string>{"plain a=1", "deferred a=1 c=3", "both b=2 a=2",
                                                 "context b=2"}));
}

TEST_F(LogMdc, NeitherHandlersNorOtherThreadsHaveIt) {
    spdlog::mdc::put("a", "1");
    std::thread([this] { logger->info("other"); }).join();
    {
        const signal_scope scope;
        logger->info("handler");
    }
    EXPECT_EQ(texts(), (std::vector<std::string>{"other", "handler"}));
}

TEST_F(LogMdc, LinesOfABacktraceHaveNone) {
    logger->enable_backtrace(4);
    logger->info("kept");
    spdlog::mdc::put("a", "1");
    logger->dump_backtrace();
    EXPECT_EQ(texts().at(2), "kept");
}

TEST_F(LogMdc, ADestructorOfTheThreadMayLog) {
    /// Logs when the thread ends, after the thread's mdc has been destroyed.
    struct Last {
        std::shared_ptr<spdlog::logger> to;
        ~Last() { to->info("last"); }
    };
    std::thread([this] {
        static thread_local Last last{logger};
        spdlog::mdc::put("key", std::string(100, 'x'));
        last.to->info("first");
    }).join();
    EXPECT_EQ(texts(), (std::vector<std::string>{"first key=" + std::string(100, 'x'), "last"}));
}

#else

TEST(LogMdc, IsEmptyBeforeSpdlogHasIt) {
    EXPECT_TRUE(detail::ThreadMdc::get() == nullptr);
}

#endif

}  // namespace
}  // namespace sluice::log::test
