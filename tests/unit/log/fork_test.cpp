#include "support/log_sinks.hpp"
#include "support/scale.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <atomic>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::log {
namespace {

/// Runs `work` in a forked child and expects that it ends well.
template <class Work>
void inChild(Work work) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        _exit(work() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

class LogFork : public testing::Test {
protected:
    void SetUp() override {
        if (test::underThreadSanitizer) {
            GTEST_SKIP() << "ThreadSanitizer lets no thread begin in the child of a fork";
        }
    }

    std::vector<std::string> linesOf(const std::string& path) const {
        std::istringstream content(test::contentOf(path));
        std::vector<std::string> lines;
        for (std::string line; std::getline(content, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    test::TemporaryFolder folder;
    const std::string file = folder / "log.txt";
};

TEST_F(LogFork, ParentAndChildLogOnAndNothingIsWrittenTwice) {
    const auto writer = std::make_shared<backend>();
    const auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    async_logger logger("core", sink, writer);
    logger.set_pattern("%v");
    for (int i = 0; i < 100; ++i) {
        logger.info("before {}", i);
    }
    inChild([&] {
        for (int i = 0; i < 100; ++i) {
            logger.info("child {}", i);
        }
        return writer->flush_wait();
    });
    for (int i = 0; i < 100; ++i) {
        logger.info("after {}", i);
    }
    ASSERT_TRUE(writer->flush_wait());
    const std::vector<std::string> lines = linesOf(file);
    EXPECT_EQ(lines.size(), 300u);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 300u);
}

TEST_F(LogFork, WhileThreadsLog) {
    const auto writer = std::make_shared<backend>();
    const auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    async_logger logger("core", sink, writer);
    logger.set_pattern("%v");
    std::atomic<bool> isOver{false};
    std::atomic<int> logged{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; !isOver; ++i) {
                logger.info("thread {} {}", t, i);
                ++logged;
                std::this_thread::yield();
            }
        });
    }
    for (int i = 0; i < 10; ++i) {
        const int before = logged;
        while (logged < before + 100) {
            std::this_thread::yield();
        }
        inChild([&, i] {
            logger.info("child {}", i);
            return writer->flush_wait() && writer->shutdown();
        });
    }
    isOver = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    ASSERT_TRUE(writer->flush_wait());
    const std::vector<std::string> lines = linesOf(file);
    EXPECT_EQ(lines.size(), static_cast<std::size_t>(logged) + 10);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size());
}

TEST_F(LogFork, ASinkMayFork) {
    const auto sink = std::make_shared<test::CollectingSink>();
    int status = -1;
    sink->onLine = [&](const spdlog::details::log_msg&) {
        const pid_t child = fork();
        if (child == 0) {
            _exit(7);
        }
        waitpid(child, &status, 0);
    };
    const auto writer = std::make_shared<backend>();
    async_logger logger("core", sink, writer);
    logger.info("one");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << "status " << status;
    sink->onLine = nullptr;
    logger.info("two");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), (std::vector<std::string>{"one", "two"}));
}

TEST_F(LogFork, AChildThatLogsNothingEndsItsBackEnd) {
    auto writer = std::make_shared<backend>();
    async_logger logger("core", std::make_shared<test::CollectingSink>(), writer);
    logger.info("text");
    inChild([&] {
        const bool isComplete = writer->shutdown() && !writer->flush_wait();
        writer.reset();
        return isComplete;
    });
    EXPECT_TRUE(writer->flush_wait());
}

}  // namespace
}  // namespace sluice::log
#endif
