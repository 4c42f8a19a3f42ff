#include <sluice/log/file_sink.hpp>

#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <csignal>
#include <fstream>
#include <thread>

namespace {

using sluice::log::async_logger;
using sluice::log::backend;
using sluice::log::file_sink_mt;
using sluice::log::file_sink_st;
using sluice::test::contentOf;
using spdlog::details::log_msg;
using Texts = std::vector<std::string>;

log_msg message(std::string_view text, spdlog::level::level_enum level = spdlog::level::info) {
    return {"core", level, spdlog::string_view_t(text.data(), text.size())};
}

/// Logs in batches like a back end, which continues after each lost record. Returns how many were
/// lost.
std::size_t logBatch(sluice::log::batch_sink& sink, const Texts& texts) {
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

class LogFileSink : public testing::Test {
protected:
    /// A sink that writes the texts alone.
    std::unique_ptr<file_sink_st> make(const std::string& path, bool truncate = false,
                                       const spdlog::file_event_handlers& handlers = {}) {
        auto sink = std::make_unique<file_sink_st>(path, truncate, handlers);
        sink->set_pattern("%v");
        return sink;
    }
    std::string content() const { return contentOf(path_); }

    const sluice::test::TemporaryFolder folder_;
    const std::string path_ = folder_ / "log.txt";
};

TEST_F(LogFileSink, WritesWhatBasicFileSinkWrites) {
    const std::string theirs = folder_ / "theirs.txt";
    {
        file_sink_st ourSink(path_);
        spdlog::sinks::basic_file_sink_st theirSink(theirs);
        for (int i = 0; i < 2000; ++i) {
            if (i == 1000) {
                ourSink.set_pattern("%L %v %T.%F");
                theirSink.set_pattern("%L %v %T.%F");
            }
            const std::string text = "line " + std::to_string(i) + std::string(std::size_t(i), '.');
            const log_msg each = message(text);
            ourSink.log(each);
            theirSink.log(each);
        }
    }
    EXPECT_TRUE(content() == contentOf(theirs));
    EXPECT_GT(content().size(), 2000000U);
}

TEST_F(LogFileSink, LinesWaitForAFlushFor4096BytesOrForTheEnd) {
    const std::string text(999, 'x');
    auto sink = make(path_);
    sink->log(message("one"));
    EXPECT_EQ(content(), "");
    EXPECT_EQ(sink->unwritten_bytes(), 4U);
    sink->flush();
    EXPECT_EQ(content(), "one\n");
    EXPECT_EQ(sink->unwritten_bytes(), 0U);
    for (int i = 0; i < 5; ++i) {
        sink->log(message(text));
    }
    EXPECT_EQ(content().size(), 5004U);
    sink->log(message("end"));
    sink.reset();
    EXPECT_EQ(content().size(), 5008U);
}

TEST_F(LogFileSink, ALongBatchIsWrittenOnTheWay) {
    const auto sink = make(path_);
    sink->set_level(spdlog::level::warn);
    logBatch(*sink, {"below the level"});
    sink->set_level(spdlog::level::info);
    logBatch(*sink, Texts(200, std::string(999, 'x')));
    EXPECT_LT(sink->unwritten_bytes(), 65536U);
    EXPECT_EQ(content().size() + sink->unwritten_bytes(), 200000U);
    sink->end_batch();
    EXPECT_EQ(content().size(), 200000U);
}

TEST_F(LogFileSink, AppendsUnlessItIsToTruncate) {
    for (const char* const text : {"old", "old", "new", "more"}) {
        make(path_, text == std::string("new"))->log(message(text));
    }
    EXPECT_EQ(content(), "new\nmore\n");
}

TEST_F(LogFileSink, TruncateEmptiesTheFileAndTheBuffer) {
    const auto sink = make(path_);
    sink->log(message("old"));
    sink->flush();
    sink->log(message("waiting"));
    sink->truncate();
    sink->log(message("new"));
    sink->flush();
    EXPECT_EQ(content(), "new\n");
#if defined(__linux__)
    const auto full = make("/dev/full");
    for (int i = 0; i < 2; ++i) {
        logBatch(*full, {std::string(5000, 'x')});
        EXPECT_TRUE(full->has_much());
        EXPECT_THROW(full->end_batch(), spdlog::spdlog_ex);
        EXPECT_FALSE(full->has_much()) << "they were tried";
        full->truncate();
    }
#endif
}

TEST_F(LogFileSink, HandlersFrameTheFile) {
    Texts calls;
    spdlog::file_event_handlers handlers;
    handlers.before_open = [&](const spdlog::filename_t&) { calls.emplace_back("before_open"); };
    handlers.after_open = [&](const spdlog::filename_t&, std::FILE* file) {
        calls.emplace_back("after_open");
        std::fputs("head\n", file);
    };
    handlers.before_close = [&](const spdlog::filename_t&, std::FILE* file) {
        calls.emplace_back("before_close");
        std::fputs("foot\n", file);
    };
    handlers.after_close = [&](const spdlog::filename_t&) { calls.emplace_back("after_close"); };
    make(path_, true, handlers)->log(message("one"));
    EXPECT_EQ(content(), "head\none\nfoot\n");
    EXPECT_EQ(calls, (Texts{"before_open", "after_open", "before_close", "after_close"}));
}

TEST_F(LogFileSink, AMessageLargerThanTheBufferIsWritten) {
    const auto sink = make(path_);
    const std::string text(3000000, 'x');
    sink->log(message(text));
    logBatch(*sink, {"a", text, "b"});
    sink->end_batch();
    EXPECT_TRUE(content() == text + "\na\n" + text + "\nb\n");
}

TEST_F(LogFileSink, FactoriesRegisterALoggerWithTheirPattern) {
    const auto logger = sluice::log::file_logger_mt("file-mt", path_, true);
    EXPECT_EQ(spdlog::get("file-mt"), logger);
    logger->set_pattern("%n %v");
    logger->info("one {}", 1);
    logger->flush();
    EXPECT_EQ(content(), "file-mt one 1\n");
    spdlog::drop("file-mt");
}

TEST_F(LogFileSink, ThreadsWriteWholeLinesInTheirOrder) {
    constexpr int each = 2000;
    constexpr std::size_t threads = 4;
    {
        file_sink_mt sink(path_);
        sink.set_pattern("%v");
        std::vector<std::thread> crew;
        for (std::size_t thread = 0; thread < threads; ++thread) {
            crew.emplace_back([&sink, thread] {
                for (int i = 0; i < each; ++i) {
                    const std::string text = std::to_string(thread) + ' ' + std::to_string(i);
                    if (i % 100 == 99) {
                        logBatch(sink, {text});
                        sink.end_batch();
                    } else {
                        sink.log(message(text));
                    }
                }
            });
        }
        for (std::thread& thread : crew) {
            thread.join();
        }
    }
    std::istringstream lines(content());
    std::vector<int> next(threads, 0);
    std::size_t thread = 0;
    int number = 0;
    while (lines >> thread >> number) {
        ASSERT_LT(thread, threads);
        EXPECT_EQ(number, next[thread]++);
    }
    EXPECT_EQ(next, std::vector<int>(threads, each));
}

// ---- A file that cannot be written, and formatters that throw

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
    EXPECT_EQ(logBatch(sink, {"a", "no", "b", "no", "c"}), 2U);
    EXPECT_THROW(sink.log(message("no")), std::runtime_error);
    sink.log(message("d"));
    sink.flush();
    EXPECT_EQ(content(), "abcd");
}

#if defined(__linux__)
/// The numbers below `count`.
Texts numbers(int count) {
    Texts texts;
    for (int i = 0; i < count; ++i) {
        texts.push_back(std::to_string(i));
    }
    return texts;
}

std::string linesOf(const Texts& texts) {
    std::string lines;
    for (const std::string& text : texts) {
        lines += text + '\n';
    }
    return lines;
}

TEST_F(LogFileSink, ABatchIsOneWrite) {
    // In place of the file a socket that keeps writes apart.
    int sockets[2] = {};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    spdlog::file_event_handlers handlers;
    handlers.after_open = [&](const spdlog::filename_t&, std::FILE* file) {
        ASSERT_NE(dup2(sockets[0], fileno(file)), -1);
    };
    const auto sink = make(path_, false, handlers);
    for (int i = 0; i < 20; ++i) {
        logBatch(*sink, Texts(100, "0123456789"));
    }
    EXPECT_EQ(sink->unwritten_bytes(), 22000U);
    sink->end_batch();
    EXPECT_EQ(sink->unwritten_bytes(), 0U);
    std::vector<char> received(65536);
    EXPECT_EQ(recv(sockets[1], received.data(), received.size(), MSG_DONTWAIT), 22000);
    EXPECT_EQ(recv(sockets[1], received.data(), received.size(), MSG_DONTWAIT), -1);
    close(sockets[0]);
    close(sockets[1]);
}

// Signals interrupt writes to a pipe of one page, some before their first byte, some after it.
TEST_F(LogFileSink, SignalsAndWritesInPartLoseNothing) {
    struct sigaction handler {};
    handler.sa_handler = [](int) {};
    struct sigaction before {};
    ASSERT_EQ(sigaction(SIGUSR1, &handler, &before), 0);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    const int pipe = open(path_.c_str(), O_RDWR);
    ASSERT_NE(pipe, -1);
    ASSERT_NE(fcntl(pipe, F_SETPIPE_SZ, 4096), -1);
    const Texts texts = numbers(50000);
    const std::string expected = linesOf(texts);
    std::thread writer([&] {
        const auto sink = make(path_);
        for (const std::string& text : texts) {
            logBatch(*sink, {text});
        }
    });
    std::string received;
    char part[512];
    while (received.size() < expected.size()) {
        const ssize_t size = read(pipe, part, sizeof part);
        ASSERT_GT(size, 0);
        received.append(part, static_cast<std::size_t>(size));
        for (int i = 0; i < 20; ++i) {
            pthread_kill(writer.native_handle(), SIGUSR1);
            std::this_thread::yield();
        }
    }
    writer.join();
    EXPECT_TRUE(received == expected);
    EXPECT_EQ(fcntl(pipe, F_SETFL, O_NONBLOCK), 0);
    EXPECT_EQ(read(pipe, part, sizeof part), -1) << "more than was logged";
    close(pipe);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(LogFileSink, AFullDiskIsToldAndTheLineIsKept) {
    testing::internal::CaptureStderr();
    {
        const auto sink = make("/dev/full");
        sink->log(message("one"));
        try {
            sink->flush();
            FAIL() << "there was room";
        } catch (const spdlog::spdlog_ex& error) {
            EXPECT_NE(std::string(error.what()).find("/dev/full"), std::string::npos);
            EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos);
        }
        EXPECT_THROW(sink->end_batch(), spdlog::spdlog_ex);
        EXPECT_EQ(sink->unwritten_bytes(), 4U);
    }
    const std::string told = testing::internal::GetCapturedStderr();  // by the destructor
    EXPECT_NE(told.find("/dev/full"), std::string::npos) << told;
    EXPECT_NE(told.find("4 bytes"), std::string::npos) << told;
}

TEST_F(LogFileSink, WhatCannotBeKeptIsCounted) {
    const auto sink = make("/dev/full");
    std::size_t lost = 0;
    for (int i = 0; i < 3; ++i) {
        lost += logBatch(*sink, Texts(100, std::string(9999, 'x')));
    }
    EXPECT_EQ(lost, 195U);
    EXPECT_EQ(sink->unwritten_bytes(), 1050000U) << "one more than fit into 1 MiB";
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

TEST_F(LogFileSink, ALineThatWasWrittenInPartIsContinuedOrWholeInTheNextFile) {
    const Texts texts = numbers(1000);
    for (const bool isWatched : {true, false}) {
        const auto sink = make(path_, true);
        sink->watch_file(isWatched);
        {
            const FileLimit limit(1003);  // "278\n" ends at 1002
            logBatch(*sink, texts);
            EXPECT_THROW(sink->end_batch(), spdlog::spdlog_ex);
            std::rename(path_.c_str(), (path_ + ".old").c_str());
            if (!isWatched) {
                EXPECT_THROW(sink->reopen(), spdlog::spdlog_ex);
                EXPECT_EQ(content().size(), 1003U);
            }
        }
        sink->flush();
        EXPECT_EQ(contentOf(path_ + ".old"), linesOf(numbers(278)) + "2");
        EXPECT_EQ(linesOf(numbers(278)) + content(), linesOf(texts));
    }
    const auto sink = make(path_, true);
    {
        const FileLimit limit(1003);
        logBatch(*sink, texts);
        EXPECT_THROW(sink->flush(), spdlog::spdlog_ex);
        EXPECT_THROW(sink->reopen(), spdlog::spdlog_ex) << "this opens the same file";
    }
    sink->flush();
    EXPECT_EQ(content(), linesOf(texts)) << "it is continued in the same file";
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
    EXPECT_TRUE(writer->flush_wait());
    logger->info("after");
    EXPECT_TRUE(writer->flush_wait());
    Texts expected(300 - lost, "core " + text);
    expected.insert(expected.end(),
                    {"core " + std::to_string(lost) + " records dropped", "core after"});
    EXPECT_TRUE(content() == linesOf(expected)) << content().size();
}

TEST_F(LogFileSink, AnErrorHandlerMayLogWhileTheBackEndEndsOnAFullDisk) {
    const auto writer = std::make_shared<backend>();
    int errors = 0;
    {
        const FileLimit limit(0);
        async_logger logger("core", std::make_shared<file_sink_st>(path_), writer);
        logger.set_error_handler([&](const std::string& text) {
            ++errors;
            logger.error(text);
        });
        logger.info("one");
        EXPECT_FALSE(writer->shutdown());
        logger.info("late");
    }
    EXPECT_GE(errors, 2);
    EXPECT_GE(writer->statistics().rejected_after_end, 2U);
}

#endif

}  // namespace
