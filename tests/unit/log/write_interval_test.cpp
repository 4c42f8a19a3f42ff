#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/temporary_folder.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <spdlog/sinks/dist_sink.h>

namespace sluice::log {
namespace {

using namespace sluice::test;
using namespace std::chrono_literals;

/// Counts its lines, the lines that it has written, and its writes.
class CountingSink final : public batch_sink {
public:
    void log(const spdlog::details::log_msg& /*message*/) override { add(1); }
    void log_batch(const spdlog::details::log_msg* /*first*/, std::size_t count,
                   std::size_t& taken) override {
        add(count);
        taken = count;
    }
    void end_batch() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        written_ = lines_;
        ++writes_;
        changed_.notify_all();
    }
    void flush() override {}
    void set_pattern(const std::string& /*pattern*/) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

    void awaitLines(std::size_t count) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return lines_ >= count; });
    }
    void awaitWritten(std::size_t count) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return written_ >= count; });
    }
    std::size_t writes() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return writes_;
    }

private:
    void add(std::size_t count) {
        const std::lock_guard<std::mutex> lock(mutex_);
        lines_ += count;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t lines_ = 0;
    std::size_t written_ = 0;
    std::size_t writes_ = 0;
};

class LogWriteInterval : public testing::Test {
protected:
    void begin(std::chrono::nanoseconds interval, bool isManual = false) {
        backend_options options;
        options.write_interval = interval;
        options.manual = isManual;
        by = std::make_shared<backend>(options);
        logger = std::make_shared<async_logger>("core", sink, by);
    }

    const Watchdog watchdog{[](std::FILE*) {}};
    std::shared_ptr<CountingSink> sink = std::make_shared<CountingSink>();
    std::shared_ptr<backend> by;
    std::shared_ptr<async_logger> logger;
};

TEST_F(LogWriteInterval, TheFirstLineIsWrittenAtOnceAndTheOthersWait) {
    begin(no_limit);
    logger->info("one");
    sink->awaitWritten(1);
    for (std::size_t count = 2; count <= 5; ++count) {
        logger->info("another one");
        sink->awaitLines(count);  // the batch before has ended
    }
    EXPECT_EQ(sink->writes(), 1U);
    EXPECT_TRUE(by->flush_wait());
    sink->awaitWritten(5);
    logger->info("the end writes it");
    EXPECT_TRUE(by->shutdown());
    sink->awaitWritten(6);
}

// Otherwise the file would be further behind than that of spdlog's sink.
TEST_F(LogWriteInterval, AFileSinkWritesAsManyBytesAsStdio) {
    const TemporaryFolder folder;
    const std::string path = folder / "log.txt";
    const auto file = std::make_shared<file_sink_mt>(path);
    file->set_pattern("%v");
    begin(no_limit);
    logger = std::make_shared<async_logger>("core", file, by);
    const auto awaitLines = [&path](std::size_t count) {
        awaitThat([&] { return contentOf(path).size() == count * 1001; });
    };
    const std::string text(1000, 'x');
    logger->info(text);
    awaitLines(1);
    for (int i = 0; i < 5; ++i) {  // four lines have less than 4096 bytes
        logger->info(text);
    }
    awaitLines(6);
}

TEST_F(LogWriteInterval, AFileInsideAnotherSinkIsWrittenWhileIdle) {
    const TemporaryFolder folder;
    const std::string path = folder / "log.txt";
    const auto all = std::make_shared<spdlog::sinks::dist_sink_mt>();
    all->add_sink(std::make_shared<file_sink_mt>(path));
    begin(no_limit);
    async_logger outer("outer", all, by);
    outer.info("one");
    awaitThat([&] { return !contentOf(path).empty(); });
}

TEST(LogFlushOnWaits, ACallOfTheFlushLevelReturnsWhenItsLineIsFlushed) {
    backend_options options;
    options.flush_on_waits = true;
    const auto by = std::make_shared<backend>(options);
    const auto sink = std::make_shared<CollectingSink>();
    async_logger logger("core", sink, by);
    logger.flush_on(spdlog::level::err);
    sink->onLine = [&](const spdlog::details::log_msg& message) {
        if (message.payload == "first") {
            logger.error("of the sink, which does not wait");
        }
    };
    logger.info("before");
    logger.error("first");
    EXPECT_GE(sink->linesAtFlush().back(), 2U);
    SLUICE_LOG_CRITICAL(logger, "last {}", 1);
    EXPECT_EQ(sink->texts().back(), "last 1");
    EXPECT_EQ(sink->linesAtFlush().back(), 4U);
}

TEST_F(LogWriteInterval, TheLastLineIsWrittenWithoutAnotherOne) {
    begin(50ms);
    logger->info("one");
    sink->awaitWritten(1);
    logger->info("two");
    sink->awaitWritten(2);
}

TEST_F(LogWriteInterval, ZeroWritesAfterEachBatch) {
    begin(0ms);
    for (std::size_t count = 1; count <= 5; ++count) {
        logger->info("another one");
        sink->awaitWritten(count);
        EXPECT_EQ(sink->writes(), count);
    }
}

TEST_F(LogWriteInterval, APollWrites) {
    begin(no_limit, true);
    for (std::size_t count = 1; count <= 3; ++count) {
        logger->info("another one");
        EXPECT_EQ(by->poll(), 1U);
        EXPECT_EQ(sink->writes(), count);
    }
}

}  // namespace
}  // namespace sluice::log
