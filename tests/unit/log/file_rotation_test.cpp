#include "support/log_sinks.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::log {
namespace {

using namespace std::chrono_literals;
using test::contentOf;
using test::Errors;
using test::TemporaryFolder;
using Time = spdlog::log_clock::time_point;

/// Local time.
Time at(int day, int hour, int minute, int second) {
    std::tm time{};
    time.tm_year = 126;
    time.tm_mon = 5;
    time.tm_mday = day;
    time.tm_hour = hour;
    time.tm_min = minute;
    time.tm_sec = second;
    time.tm_isdst = -1;
    return spdlog::log_clock::from_time_t(std::mktime(&time));
}

class LogFileRotation : public testing::Test {
protected:
    std::shared_ptr<file_sink_mt> makeSink(file_rotation rotation) {
        auto sink = std::make_shared<file_sink_mt>(path);
        sink->set_pattern("%v");
        rotation.after_rotation = [this](const spdlog::filename_t& name) {
            rotated.push_back(name);
        };
        sink->set_rotation(rotation);
        return sink;
    }
    static void log(file_sink_mt& sink, Time time, const std::string& text) {
        sink.log({time, {}, "core", spdlog::level::info, text});
    }

    const TemporaryFolder folder;
    const std::string path = folder / "core.log";
    std::vector<std::string> rotated;
};

TEST_F(LogFileRotation, NoFileIsLargerThanTheLimitAndNoLineIsLost) {
    file_rotation rotation;
    rotation.max_bytes = 100;
    const auto sink = makeSink(rotation);
    std::string expected;
    {
        const auto writer = std::make_shared<backend>();
        async_logger logger("core", sink, writer);
        for (int i = 0; i < 200; ++i) {
            logger.info("line number {}", i);
            expected += "line number " + std::to_string(i) + "\n";
        }
        ASSERT_TRUE(writer->flush_wait());
    }
    EXPECT_GT(rotated.size(), 20u);
    rotated.push_back(path);
    std::string all;
    for (const std::string& name : rotated) {
        EXPECT_LE(contentOf(name).size(), 100u);
        all += contentOf(name);
    }
    EXPECT_EQ(all, expected);
}

TEST_F(LogFileRotation, ALineThatIsTooLongGetsAFileOfItsOwn) {
    file_rotation rotation;
    rotation.max_bytes = 10;
    const auto sink = makeSink(rotation);
    const std::string longLine(30, 'x');
    for (const std::string& text : {std::string("a"), longLine, std::string("b")}) {
        log(*sink, at(1, 12, 0, 0), text);
    }
    sink->flush();
    ASSERT_EQ(rotated.size(), 2u);
    EXPECT_EQ(contentOf(rotated[0]), "a\n");
    EXPECT_EQ(contentOf(rotated[1]), longLine + "\n");
    EXPECT_EQ(contentOf(path), "b\n");
}

TEST_F(LogFileRotation, WhatIsInTheFileAlreadyCounts) {
    std::ofstream(path) << "0123456789";
    file_rotation rotation;
    rotation.max_bytes = 10;
    const auto sink = makeSink(rotation);
    log(*sink, at(1, 12, 0, 0), "a");
    sink->flush();
    ASSERT_EQ(rotated.size(), 1u);
    EXPECT_EQ(contentOf(rotated[0]), "0123456789");
    EXPECT_EQ(contentOf(path), "a\n");
}

TEST_F(LogFileRotation, TheFirstRecordOfADayIsTheFirstLineOfAFile) {
    std::ofstream(path) << "older\n";
    const auto old = std::chrono::duration_cast<std::filesystem::file_time_type::duration>(
        at(1, 20, 0, 0) - spdlog::log_clock::now());
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + old);
    file_rotation rotation;
    rotation.daily = true;
    rotation.hour = 18;
    rotation.minute = 30;
    const auto sink = makeSink(rotation);
    log(*sink, at(2, 18, 29, 59), "the same day");
    log(*sink, at(2, 18, 30, 0), "the next day");
    log(*sink, at(5, 9, 0, 0), "three days later");
    sink->flush();
    ASSERT_EQ(rotated.size(), 2u);
    EXPECT_EQ(contentOf(rotated[0]), "older\nthe same day\n");
    EXPECT_EQ(contentOf(rotated[1]), "the next day\n");
    EXPECT_EQ(contentOf(path), "three days later\n");
    EXPECT_EQ(rotated[0], folder / "core.20260602-183000.log");
}

TEST_F(LogFileRotation, AFailedRotationIsToldAndLosesNothing) {
    file_rotation rotation;
    rotation.max_bytes = 10;
    const auto sink = makeSink(rotation);
    log(*sink, at(1, 12, 0, 0), "12345678");
    std::filesystem::rename(path, folder / "elsewhere");
    log(*sink, at(1, 12, 0, 0), "abc");
    EXPECT_THROW(sink->flush(), spdlog::spdlog_ex);
    EXPECT_NO_THROW(sink->flush());
    EXPECT_EQ(contentOf(folder / "elsewhere"), "12345678\nabc\n");
    EXPECT_TRUE(rotated.empty());
}

TEST_F(LogFileRotation, AHookThatThrowsCostsNoLine) {
    const auto sink = std::make_shared<file_sink_mt>(path);
    sink->set_pattern("%v");
    file_rotation rotation;
    rotation.max_bytes = 10;
    rotation.after_rotation = [this](const spdlog::filename_t& name) {
        rotated.push_back(name);
        throw std::runtime_error("no compressor");
    };
    sink->set_rotation(rotation);
    Errors errors;
    const auto writer = std::make_shared<backend>();
    async_logger logger("core", sink, writer);
    logger.set_error_handler(errors.handler());
    logger.info("12345678");
    logger.info("abc");
    static_cast<void>(writer->flush_wait());
    ASSERT_EQ(rotated.size(), 1u);
    EXPECT_EQ(contentOf(rotated[0]) + contentOf(path), "12345678\nabc\n");
    EXPECT_EQ(errors.texts(), std::vector<std::string>{"no compressor"});
    EXPECT_EQ(writer->statistics().written, 2u);
}

TEST_F(LogFileRotation, TheHookMayLogToTheSameSink) {
    const auto sink = std::make_shared<file_sink_mt>(path);
    sink->set_pattern("%v");
    file_rotation rotation;
    rotation.max_bytes = 10;
    bool isFirst = true;
    rotation.after_rotation = [&](const spdlog::filename_t&) {
        if (std::exchange(isFirst, false)) {
            log(*sink, at(1, 12, 0, 0), "x");
        }
    };
    sink->set_rotation(rotation);
    log(*sink, at(1, 12, 0, 0), "12345678");
    log(*sink, at(1, 12, 0, 0), "abc");
    sink->flush();
    EXPECT_EQ(contentOf(path), "abc\nx\n");
}

// ---- A file that others rename or remove

spdlog::details::log_msg message(const char* text) {
    return {"core", spdlog::level::info, text};
}

class LogMovedFile : public testing::Test {
protected:
    const TemporaryFolder folder;
    const std::string path = folder / "log.txt";
};

TEST_F(LogMovedFile, ReopenSplitsTheLinesBetweenTheOldFileAndTheNewOne) {
    file_sink_st sink(path);
    sink.set_pattern("%v");
    sink.log(message("one"));
    std::filesystem::rename(path, folder / "old.txt");
    sink.log(message("two"));
    sink.reopen();
    sink.log(message("three"));
    sink.flush();
    EXPECT_EQ(contentOf(folder / "old.txt"), "one\ntwo\n");
    EXPECT_EQ(contentOf(path), "three\n");
}

TEST_F(LogMovedFile, AFileThatCannotBeReopenedIsTriedAgain) {
    const std::string inner = folder / "inner";
    file_sink_st sink(inner + "/log.txt");
    sink.set_pattern("%v");
    std::filesystem::rename(inner, folder / "moved");
    std::ofstream(inner) << "in the way of the folder";
    EXPECT_THROW(sink.reopen(), spdlog::spdlog_ex);
    sink.log(message("one"));
    EXPECT_THROW(sink.flush(), spdlog::spdlog_ex);
    std::filesystem::remove(inner);
    sink.flush();
    EXPECT_EQ(contentOf(inner + "/log.txt"), "one\n");
}

TEST_F(LogMovedFile, AWatchedFileThatWasRenamedIsOpenedAgain) {
    file_sink_st sink(path);
    sink.watch_file();
    sink.set_pattern("%v");
    sink.log(message("one"));
    sink.flush();
    std::filesystem::rename(path, folder / "old.txt");
    sink.log(message("two"));
    sink.flush();
    std::filesystem::remove(path);
    sink.log(message("three"));
    sink.flush();
    EXPECT_EQ(contentOf(folder / "old.txt"), "one\n");
    EXPECT_EQ(contentOf(path), "three\n") << "what was in the removed file is gone with it";
}

TEST_F(LogMovedFile, NoLineOfAWatchedFileIsLostWhileOthersRenameIt) {
    int lines = 0;
    std::vector<std::string> parts;
    {
        const auto sink = std::make_shared<file_sink_mt>(path);
        sink->watch_file();
        const auto writer = std::make_shared<backend>();
        async_logger logger("core", sink, writer);
        logger.set_pattern("%v");
        std::atomic<bool> isOver{false};
        std::atomic<int> moves{0};
        std::thread mover([&] {
            while (!isOver.load()) {
                const std::string part = folder / std::to_string(parts.size());
                if (std::rename(path.c_str(), part.c_str()) == 0) {
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
    parts.push_back(path);
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
}  // namespace sluice::log
