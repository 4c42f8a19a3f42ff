// A file that cannot be written, and formatters that throw.

#include "log_file_sink.hpp"

#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using sluice::log::async_logger;
using sluice::log::backend;
using sluice::log::file_sink_mt;
using sluice::log::file_sink_st;
using sluice::test::contentOf;
using sluice::test::logBatch;
using sluice::test::LogFileSink;
using sluice::test::message;
using spdlog::details::log_msg;

/// As a back end does it: behind each record that is lost it goes on with the next one. Returns how
/// many were lost.
std::size_t logBatchWithLosses(sluice::log::batch_sink& sink,
                               const std::vector<std::string>& texts) {
    std::vector<log_msg> messages;
    for (const std::string& text : texts) {
        messages.push_back(message(text));
    }
    std::size_t lost = 0;
    for (std::size_t begin = 0; begin < messages.size();) {
        std::size_t taken = 0;
        try {
            sink.log_batch(messages.data() + begin, messages.size() - begin, taken);
            break;
        } catch (const std::exception&) {
            begin += taken + 1;
            ++lost;
        }
    }
    return lost;
}

TEST_F(LogFileSink, AFileThatCannotBeOpenedIsNamed) {
    { std::ofstream(path_) << "no folder"; }
    const std::string path = path_ + "/log.txt";
    try {
        file_sink_st sink(path);
        FAIL() << "it was opened";
    } catch (const spdlog::spdlog_ex& error) {
        EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
}

TEST_F(LogFileSink, AFullDiskIsToldAndTheLineIsKept) {
    file_sink_st sink("/dev/full");
    sink.set_pattern("%v");
    sink.log(message("one"));
    try {
        sink.flush();
        FAIL() << "there was room";
    } catch (const spdlog::spdlog_ex& error) {
        EXPECT_NE(std::string(error.what()).find("/dev/full"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos);
    }
    EXPECT_EQ(sink.unwritten_bytes(), 4U);
    EXPECT_THROW(sink.end_batch(), spdlog::spdlog_ex);
    EXPECT_EQ(sink.unwritten_bytes(), 4U);
}

TEST_F(LogFileSink, AFullDiskReachesTheErrorHandlerOfALogger) {
    std::vector<std::string> errors;
    spdlog::logger logger("core", std::make_shared<file_sink_mt>("/dev/full"));
    logger.set_error_handler([&](const std::string& error) { errors.push_back(error); });
    logger.info("one");
    logger.flush();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_NE(errors[0].find("/dev/full"), std::string::npos) << errors[0];
}

TEST_F(LogFileSink, WhatCannotBeKeptIsCounted) {
    file_sink_st sink("/dev/full");
    sink.set_pattern("%v");
    const std::vector<std::string> batch(100, std::string(9999, 'x'));
    std::size_t lost = 0;
    for (int i = 0; i < 3; ++i) {
        lost += logBatchWithLosses(sink, batch);
    }
    EXPECT_EQ(lost, 195U);
    const std::size_t kept = sink.unwritten_bytes() / 10000;
    EXPECT_EQ(sink.unwritten_bytes() % 10000, 0U);
    EXPECT_EQ(kept, 105U) << "one more than fit into 1 MiB";
    EXPECT_EQ(sink.lost_records(), 195U);
}

/// No file of this process may be longer meanwhile. A write gets as far as it can first.
class FileLimit {
public:
    explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        (void)std::signal(SIGXFSZ, handler_);
    }

private:
    void (*handler_)(int);
    rlimit before_{};
};

TEST_F(LogFileSink, WhatWasWrittenInPartIsGoneOnWithLater) {
    file_sink_st sink(path_);
    sink.set_pattern("%v");
    std::string expected;
    std::vector<std::string> texts;
    for (int i = 0; i < 1000; ++i) {
        texts.push_back(std::to_string(i));
        expected += texts.back() + '\n';
    }
    {
        const FileLimit limit(1003);
        logBatch(sink, texts);
        EXPECT_THROW(sink.end_batch(), spdlog::spdlog_ex);
        EXPECT_EQ(contentOf(path_).size(), 1003U);
        EXPECT_THROW(sink.flush(), spdlog::spdlog_ex);
    }
    sink.log(message("after"));
    sink.flush();
    EXPECT_EQ(contentOf(path_), expected + "after\n");
    EXPECT_EQ(sink.lost_records(), 0U);
}

TEST_F(LogFileSink, TheLogAndTheNumbersTellOfAGap) {
    const auto writer = std::make_shared<backend>();
    const auto logger =
        std::make_shared<async_logger>("core", std::make_shared<file_sink_st>(path_), writer);
    logger->set_pattern("%n %v");
    logger->set_error_handler([](const std::string&) {});
    const std::string text(9999 - 5, 'x');
    std::uint64_t lost = 0;
    {
        const FileLimit limit(1000);
        for (int i = 0; i < 300; ++i) {
            logger->info(text);
        }
        EXPECT_FALSE(writer->flush_wait());
        lost = 300 - writer->statistics().written;
        EXPECT_GT(lost, 100U);
    }
    logger->info("after");
    EXPECT_TRUE(writer->flush_wait());
    std::string expected;
    for (std::uint64_t i = lost; i < 300; ++i) {
        expected += "core " + text + '\n';
    }
    expected += "core " + std::to_string(lost) + " records dropped\ncore after\n";
    EXPECT_TRUE(contentOf(path_) == expected) << contentOf(path_).size();
}

TEST_F(LogFileSink, WhatTheEndCannotWriteIsToldOnStderr) {
    testing::internal::CaptureStderr();
    {
        file_sink_st sink("/dev/full");
        sink.set_pattern("%v");
        sink.log(message("one"));
    }
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("/dev/full"), std::string::npos) << told;
    EXPECT_NE(told.find("4 bytes"), std::string::npos) << told;
}

/// Refuses messages that say so.
class Moody final : public spdlog::formatter {
public:
    void format(const log_msg& each, spdlog::memory_buf_t& to) override {
        const std::string_view text(each.payload.data(), each.payload.size());
        to.append(text.data(), text.data() + text.size());
        if (text == "no") {
            throw std::runtime_error("no");
        }
    }
    std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<Moody>(); }
};

TEST_F(LogFileSink, AFormatterThatThrowsCostsItsOwnRecord) {
    file_sink_st sink(path_);
    sink.set_formatter(std::make_unique<Moody>());
    EXPECT_EQ(logBatchWithLosses(sink, {"a", "no", "b", "no", "c"}), 2U);
    EXPECT_THROW(sink.log(message("no")), std::runtime_error);
    sink.log(message("d"));
    sink.flush();
    EXPECT_EQ(contentOf(path_), "abcd");
}

}  // namespace
