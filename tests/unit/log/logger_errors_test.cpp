// Errors of sinks, formats and files, and a back end that has ended.

#include "log_logger.hpp"

#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log {
namespace {

using test::Errors;
using test::GatedSink;
using test::LogLogger;
using Texts = std::vector<std::string>;

TEST_F(LogLogger, SinkErrorsReachTheHandlerOnTheBackEnd) {
    sink->onLine = [](const spdlog::details::log_msg& message) {
        if (message.level == spdlog::level::err) {
            throw std::runtime_error("full");
        }
        if (message.level == spdlog::level::critical) {
            throw 7;
        }
    };
    logger->info("one");
    logger->error("two");
    logger->critical("three");
    logger->log(spdlog::source_loc{"file.cpp", 7, "function"}, spdlog::level::err, "four");
    logger->info("five");
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), (Texts{"one", "five"}));
    EXPECT_EQ(errors.texts(), (Texts{"full", "unknown exception in a sink", "full [file.cpp(7)]"}));
    for (const std::thread::id id : errors.threads()) {
        EXPECT_NE(id, std::this_thread::get_id());
    }
}

TEST_F(LogLogger, FlushErrorsReachTheHandler) {
    sink->onFlush = [] { throw std::runtime_error("no disk"); };
    EXPECT_FALSE(writer->shutdown());
    EXPECT_EQ(errors.texts(), Texts{"no disk"});
}

TEST_F(LogLogger, ErrorsAreReportedAfterTheLoggerHasGone) {
    const auto gated = std::make_shared<GatedSink>();
    auto other = make(gated);
    gated->onLine = [gate = &gated->gate](const spdlog::details::log_msg&) {
        gate->pass();
        throw std::runtime_error("late");
    };
    other->info("one");
    gated->gate.awaitArrival();
    other.reset();
    gated->gate.open();
    writer->shutdown();
    EXPECT_EQ(errors.texts(), Texts{"late"});
}

TEST_F(LogLogger, AnErrorHandlerThatThrowsEndsNothing) {
    sink->onLine = [](const spdlog::details::log_msg& message) {
        if (message.level == spdlog::level::err) {
            throw std::runtime_error("full");
        }
    };
    logger->set_error_handler([](const std::string& text) { throw std::runtime_error(text); });
    logger->error("one");
    logger->info("two");
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"two"});
}

TEST_F(LogLogger, ABadFormatStringIsReportedAndTheNextRecordIsWritten) {
    logger->info(fmt::runtime("{} {}"), 1);
    logger->info("good");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(errors.texts().size(), 1u);
    EXPECT_EQ(sink->texts(), Texts{"good"});
}

TEST_F(LogLogger, AnUnwritableFileIsReportedAndOtherSinksGetTheirs) {
    EXPECT_THROW(std::make_shared<spdlog::sinks::basic_file_sink_mt>("/dev/null/no/file"),
                 spdlog::spdlog_ex);
    const auto full = std::make_shared<spdlog::sinks::basic_file_sink_mt>("/dev/full");
    const auto both =
        std::make_shared<async_logger>("both", spdlog::sinks_init_list{full, sink}, writer);
    both->set_error_handler(errors.handler());
    both->info("text");
    both->flush();
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_FALSE(errors.texts().empty());
    EXPECT_EQ(sink->texts(), Texts{"text"});
}

// ---- the end of the back end

TEST_F(LogLogger, ReportsWhenItsBackEndHasEnded) {
    writer.reset();
    logger->info("one");
    logger->flush();
    EXPECT_EQ(errors.texts(), (Texts{"async log: the back end doesn't exist anymore",
                                     "async flush: the back end doesn't exist anymore"}));
    EXPECT_TRUE(sink->texts().empty());
}

TEST_F(LogLogger, WithoutABackEndEachCallIsAnError) {
    async_logger orphan("orphan", sink, std::shared_ptr<backend>());
    orphan.set_error_handler(errors.handler());
    orphan.info("one");
    orphan.flush();
    EXPECT_EQ(errors.texts().size(), 2u);
    EXPECT_TRUE(sink->texts().empty());
}

}  // namespace
}  // namespace sluice::log
