#include "support/crew.hpp"
#include "support/log_sinks.hpp"

#include <sluice/log/async_sink.hpp>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log {
namespace {

using test::CollectingSink;
using test::Errors;
using test::GatedSink;
using Texts = std::vector<std::string>;

class LogAsyncSink : public testing::Test {
protected:
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<backend> writer = std::make_shared<backend>();
    std::shared_ptr<async_sink> wrapped = std::make_shared<async_sink>(sink, writer);
    spdlog::logger logger{"core", wrapped};
};

TEST_F(LogAsyncSink, HandsOnAllThatItGets) {
    logger.log(spdlog::source_loc{"file.cpp", 7, "function"}, spdlog::level::warn, "one");
    {
        spdlog::logger another("with another name", wrapped);
        another.info("two");
    }
    ASSERT_TRUE(writer->flush_wait());
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].text, "one");
    EXPECT_EQ(lines[0].logger, "core");
    EXPECT_EQ(lines[0].level, spdlog::level::warn);
    EXPECT_STREQ(lines[0].source.filename, "file.cpp");
    EXPECT_EQ(lines[0].source.line, 7);
    EXPECT_EQ(lines[1].logger, "with another name");
    EXPECT_EQ(lines[1].text, "two");
    EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
}

TEST_F(LogAsyncSink, ChangesOfFormTravelWithTheRecords) {
    const auto gated = std::make_shared<GatedSink>();
    spdlog::logger other("other", std::make_shared<async_sink>(gated, writer));
    other.set_pattern("1 %v");
    other.info("a");
    gated->gate.awaitArrival();
    other.set_pattern("2 %v");
    other.info("b");
    other.sinks().front()->set_pattern("3 %v");
    other.info("c");
    gated->gate.open();
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(gated->formatted(), (Texts{"1 a", "2 b", "3 c"}));
}

TEST_F(LogAsyncSink, FlushesWhenWhatWasLoggedBeforeIsWritten) {
    logger.info("one");
    logger.flush();
    test::awaitThat([&] { return sink->flushes() == 1; });
    logger.flush_on(spdlog::level::err);
    logger.error("two");
    writer->shutdown();
    EXPECT_EQ(sink->linesAtFlush(), (std::vector<std::size_t>{1, 2, 2})) << "the end flushes, too";
}

TEST_F(LogAsyncSink, ErrorsOfSinksGoToItsHandler) {
    Errors errors;
    wrapped->set_error_handler(errors.handler());
    sink->onLine = [](const spdlog::details::log_msg&) { throw std::runtime_error("full"); };
    logger.info("one");
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_EQ(errors.texts(), Texts{"full"});
}

TEST_F(LogAsyncSink, TheLoggerReportsWhenTheBackEndHasEnded) {
    Errors errors;
    logger.set_error_handler(errors.handler());
    writer->shutdown();
    logger.info("one");
    logger.flush();
    EXPECT_EQ(errors.texts(), Texts(2, "async_sink: the back end doesn't exist anymore"));
}

TEST_F(LogAsyncSink, NeedsABackEnd) {
    EXPECT_THROW(async_sink(sink, nullptr), spdlog::spdlog_ex);
}

}  // namespace
}  // namespace sluice::log
