#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/detail/format/thread_mdc.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/json_formatter.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/scoped_context.hpp>
#include <sluice/log/signal_scope.hpp>

#include <spdlog/sinks/ostream_sink.h>

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log::test {
namespace {

#if SLUICE_LOG_HAS_MDC

class LogMdc : public testing::Test {
protected:
    LogMdc() { logger->set_pattern("[%&] %v", spdlog::pattern_time_type::utc); }
    ~LogMdc() override { spdlog::mdc::clear(); }

    std::vector<std::string> lines() {
        EXPECT_TRUE(by->flush_wait());
        std::vector<std::string> result;
        std::istringstream text(stream.str());
        for (std::string line; std::getline(text, line);) {
            result.push_back(line);
        }
        return result;
    }

    std::ostringstream stream;
    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>(
        "log", std::make_shared<spdlog::sinks::ostream_sink_mt>(stream), by);
};

TEST_F(LogMdc, RecordsHaveTheMdcOfTheMomentOfTheCall) {
    spdlog::mdc::put("a", "1");
    logger->info("plain");
    SLUICE_LOG_INFO(logger, "deferred", kv("c", 3));
    spdlog::mdc::put("b", "two words");
    const scoped_context context(kv("d", 4));
    logger->info("both");
    logger->info("again");
    spdlog::mdc::clear();
    logger->info("none");
    EXPECT_EQ(lines(), (std::vector<std::string>{"[a:1] plain", "[a:1] deferred c=3",
                                                 "[a:1 b:two words] both d=4",
                                                 "[a:1 b:two words] again d=4", "[] none d=4"}));
}

TEST_F(LogMdc, TheFullPatternAndJsonHaveIt) {
    spdlog::mdc::put("a", "1");
    logger->set_pattern("%+");
    logger->info("full");
    EXPECT_NE(lines().at(0).find("[info] [a:1] full"), std::string::npos) << lines().at(0);
    logger->set_formatter(std::make_unique<json_formatter>());
    logger->info("json", 1);
    EXPECT_NE(lines().at(1).find(R"("context":{"a":"1"})"), std::string::npos) << lines().at(1);
    const scoped_context context(kv("d", 4));
    logger->info("json", 1);
    EXPECT_NE(lines().at(2).find(R"("context":{"d":4,"a":"1"})"), std::string::npos)
        << lines().at(2);
}

TEST_F(LogMdc, AFileHasIt) {
    const sluice::test::TemporaryFolder folder;
    const std::string file = folder / "log";
    const auto toFile =
        std::make_shared<async_logger>("file", std::make_shared<file_sink_mt>(file), by);
    toFile->set_pattern("[%&] %v");
    spdlog::mdc::put("a", "1");
    toFile->info("first");
    spdlog::mdc::clear();
    toFile->info("second");
    EXPECT_TRUE(by->flush_wait());
    EXPECT_EQ(sluice::test::contentOf(file), "[a:1] first\n[] second\n");
}

TEST_F(LogMdc, ThePollingThreadKeepsItsOwn) {
    backend_options options;
    options.manual = true;
    by = std::make_shared<backend>(options);
    logger = std::make_shared<async_logger>(
        "log", std::make_shared<spdlog::sinks::ostream_sink_mt>(stream), by);
    logger->set_pattern("[%&] %v");
    std::thread([this] { logger->info("other"); }).join();
    spdlog::mdc::put("a", "1");
    logger->info("own");
    by->poll();
    EXPECT_EQ(spdlog::mdc::get("a"), "1");
    EXPECT_EQ(lines(), (std::vector<std::string>{"[] other", "[a:1] own"}));
}

TEST_F(LogMdc, NeitherHandlersNorOtherThreadsHaveIt) {
    spdlog::mdc::put("a", "1");
    std::thread([this] { logger->info("other"); }).join();
    {
        const signal_scope scope;
        logger->info("handler");
    }
    EXPECT_EQ(lines(), (std::vector<std::string>{"[] other", "[] handler"}));
}

TEST_F(LogMdc, LinesOfABacktraceHaveNone) {
    logger->enable_backtrace(4);
    logger->info("kept");
    spdlog::mdc::put("a", "1");
    logger->dump_backtrace();
    EXPECT_EQ(lines().at(2), "[] kept");
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
    EXPECT_EQ(lines(),
              (std::vector<std::string>{"[key:" + std::string(100, 'x') + "] first", "[] last"}));
}

#else

TEST(LogMdc, IsEmptyBeforeSpdlogHasIt) {
    EXPECT_TRUE(detail::ThreadMdc::findFull() == nullptr);
}

#endif

}  // namespace
}  // namespace sluice::log::test
