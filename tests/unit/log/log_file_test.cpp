#include <sluice/log/detail/sink/log_file.hpp>

#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// A file_sink whose file others rename or remove.

namespace {

using sluice::log::async_logger;
using sluice::log::backend;
using sluice::log::file_sink_mt;
using sluice::log::file_sink_st;
using sluice::test::contentOf;
using sluice::test::TemporaryFolder;

spdlog::details::log_msg message(const char* text) {
    return {"core", spdlog::level::info, text};
}

class LogMovedFile : public testing::Test {
protected:
    const TemporaryFolder folder_;
    const std::string path_ = folder_ / "log.txt";
};

TEST_F(LogMovedFile, ReopenSplitsTheLinesBetweenTheOldFileAndTheNewOne) {
    file_sink_st sink(path_);
    sink.set_pattern("%v");
    sink.log(message("one"));
    std::filesystem::rename(path_, folder_ / "old.txt");
    sink.log(message("two"));
    sink.reopen();
    sink.log(message("three"));
    sink.flush();
    EXPECT_EQ(contentOf(folder_ / "old.txt"), "one\ntwo\n");
    EXPECT_EQ(contentOf(path_), "three\n");
}

TEST_F(LogMovedFile, AFileThatCannotBeReopenedIsTriedAgain) {
    const std::string folder = folder_ / "inner";
    file_sink_st sink(folder + "/log.txt");
    sink.set_pattern("%v");
    std::filesystem::rename(folder, folder_ / "moved");
    std::ofstream(folder) << "in the way of the folder";
    EXPECT_THROW(sink.reopen(), spdlog::spdlog_ex);
    sink.log(message("one"));
    EXPECT_THROW(sink.flush(), spdlog::spdlog_ex);
    std::filesystem::remove(folder);
    sink.flush();
    EXPECT_EQ(contentOf(folder + "/log.txt"), "one\n");
}

TEST_F(LogMovedFile, AWatchedFileThatWasRenamedIsOpenedAgain) {
    file_sink_st sink(path_);
    sink.watch_file();
    sink.set_pattern("%v");
    sink.log(message("one"));
    sink.flush();
    std::filesystem::rename(path_, folder_ / "old.txt");
    sink.log(message("two"));
    sink.flush();
    std::filesystem::remove(path_);
    sink.log(message("three"));
    sink.flush();
    EXPECT_EQ(contentOf(folder_ / "old.txt"), "one\n");
    EXPECT_EQ(contentOf(path_), "three\n") << "what was in the removed file is gone with it";
}

TEST_F(LogMovedFile, NoLineOfAWatchedFileIsLostWhileOthersRenameIt) {
    int lines = 0;
    std::vector<std::string> parts;
    {
        const auto sink = std::make_shared<file_sink_mt>(path_);
        sink->watch_file();
        const auto writer = std::make_shared<backend>();
        async_logger logger("core", sink, writer);
        logger.set_pattern("%v");
        std::atomic<bool> isOver{false};
        std::atomic<int> moves{0};
        std::thread mover([&] {
            while (!isOver.load()) {
                const std::string part = folder_ / std::to_string(parts.size());
                if (std::rename(path_.c_str(), part.c_str()) == 0) {
                    parts.push_back(part);
                    ++moves;
                }
                std::this_thread::yield();
            }
        });
        for (; lines < 3000 || moves.load() < 2; ++lines) {
            logger.info("{}", lines);
            if (lines % 100 == 0) {
                writer->flush_wait();
            }
        }
        EXPECT_TRUE(writer->shutdown());
        isOver.store(true);
        mover.join();
    }
    parts.push_back(path_);
    std::string all;
    for (const std::string& part : parts) {
        all += contentOf(part);
    }
    std::string expected;
    for (int i = 0; i < lines; ++i) {
        expected += std::to_string(i) + "\n";
    }
    EXPECT_EQ(all, expected);
}

}  // namespace
