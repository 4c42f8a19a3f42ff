#include "support/log_sinks.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

namespace sluice::log {
namespace {

using test::contentOf;
using test::TemporaryFolder;
using Time = spdlog::log_clock::time_point;

/// Sets the time zone, or that of the system for "". There is no other thread.
void setZone(const char* zone) {
#if defined(_WIN32)
    _putenv_s("TZ", zone);
    _tzset();
#else
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    static_cast<void>(*zone == 0 ? unsetenv("TZ") : setenv("TZ", zone, 1));
    tzset();
#endif
}

/// Local time in June 2020.
Time at(int day, int hour, int minute, int second) {
    std::tm time{};
    time.tm_year = 120;
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
    void makeSink(file_rotation rotation, const spdlog::file_event_handlers& handlers = {}) {
        sink = std::make_shared<file_sink_mt>(path, false, handlers);
        sink->set_pattern("%v");
        rotation.after_rotation = [this](const std::string& name) {
            rotated.push_back(name);
            if (hook) {
                hook(name);
            }
        };
        sink->set_rotation(rotation);
    }
    void makeSink(std::size_t mostBytes, const spdlog::file_event_handlers& handlers = {}) {
        file_rotation rotation;
        rotation.max_bytes = mostBytes;
        makeSink(rotation, handlers);
    }
    void log(const std::string& text, Time time = at(1, 12, 0, 0)) {
        sink->log({time, {}, "core", spdlog::level::info, text});
    }
    /// The content of all files in the order of their names, then that of the present one.
    std::string allContent() {
        std::sort(rotated.begin(), rotated.end());
        std::string all;
        for (const std::string& name : rotated) {
            all += contentOf(name);
        }
        return all + contentOf(path);
    }

    const TemporaryFolder folder;
    const std::string path = folder / "core.log";
    std::shared_ptr<file_sink_mt> sink;
    std::function<void(const std::string&)> hook;
    std::vector<std::string> rotated;
};

TEST_F(LogFileRotation, NoFileIsLargerThanTheLimitAndNoLineIsLost) {
    makeSink(100);
    std::string expected;
    const auto writer = std::make_shared<backend>();
    async_logger logger("core", sink, writer);
    for (int i = 0; i < 200; ++i) {
        logger.info("line number {}", i);
        expected += "line number " + std::to_string(i) + "\n";
    }
    ASSERT_TRUE(writer->shutdown());
    EXPECT_GT(rotated.size(), 20u);
    for (const std::string& name : rotated) {
        EXPECT_LE(contentOf(name).size(), 100u);
    }
    EXPECT_EQ(allContent(), expected) << "the names do not sort by time";
}

TEST_F(LogFileRotation, NoNameIsUsedTwiceAlsoIfTheHookMovesTheFileOrTheLocalTimeIsSetBack) {
    makeSink(1);
    std::filesystem::create_directory(folder / "old");
    hook = [this](const std::string& name) {
        rotated.back() = folder / ("old/" + std::filesystem::path(name).filename().string());
        std::filesystem::rename(name, rotated.back());
        setZone("UTC+9");
    };
    for (int i = 0; i < 5; ++i) {
        log(std::to_string(i));
    }
    sink->flush();
    setZone("");
    ASSERT_EQ(rotated.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(contentOf(rotated[i]), std::to_string(i) + "\n");
    }
    const std::size_t hour = (folder / "old/core.20261123-").size();
    EXPECT_NE(rotated[1].substr(hour, 2), rotated[0].substr(hour, 2)) << "the time is wrong";
}

TEST_F(LogFileRotation, ALineThatIsTooLongGetsAFileOfItsOwn) {
    makeSink(10);
    const std::string longLine(30, 'x');
    for (const std::string& text : {std::string("a"), longLine, std::string("b")}) {
        log(text);
    }
    sink->flush();
    ASSERT_EQ(rotated.size(), 2u);
    EXPECT_EQ(contentOf(rotated[0]), "a\n");
    EXPECT_EQ(contentOf(rotated[1]), longLine + "\n");
    EXPECT_EQ(contentOf(path), "b\n");
}

TEST_F(LogFileRotation, WhatIsInTheFileAlreadyCounts) {
    std::ofstream(path) << "0123456789";
    makeSink(10);
    log("a");
    sink->flush();
    ASSERT_EQ(rotated.size(), 1u);
    EXPECT_EQ(contentOf(rotated[0]), "0123456789");
    EXPECT_EQ(contentOf(path), "a\n");
}

TEST_F(LogFileRotation, AFileMayHaveMoreThanFourGigabytes) {
    if (sizeof(std::size_t) < 8) {
        GTEST_SKIP();
    }
    std::ofstream(path).seekp(5'000'000'000) << 'x';  // without blocks on the disk before
    makeSink(4'000'000'000);
    log("a");
    sink->flush();
    EXPECT_EQ(std::filesystem::file_size(path), 2U);
}

TEST_F(LogFileRotation, TheFirstRecordOfADayIsTheFirstLineOfAFile) {
    std::ofstream(path, std::ios::binary) << "older\n";
    const auto old = std::chrono::duration_cast<std::filesystem::file_time_type::duration>(
        at(1, 20, 0, 0) - spdlog::log_clock::now());
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + old);
    file_rotation rotation;
    rotation.daily = true;
    rotation.hour = 18;
    rotation.minute = 30;
    makeSink(rotation);
    log("the same day", at(2, 18, 29, 59));
    log("the next day", at(2, 18, 30, 0));
    log("three days later", at(5, 9, 0, 0));
    sink->flush();
    ASSERT_EQ(rotated.size(), 2u);
    EXPECT_EQ(contentOf(rotated[0]), "older\nthe same day\n");
    EXPECT_EQ(contentOf(rotated[1]), "the next day\n");
    EXPECT_EQ(contentOf(path), "three days later\n");
}

TEST_F(LogFileRotation, ARecordFromTheFutureBeginsNoDay) {
    const auto now = spdlog::log_clock::now();
    file_rotation rotation;
    rotation.daily = true;
    rotation.hour =
        (spdlog::details::os::localtime(spdlog::log_clock::to_time_t(now)).tm_hour + 12) % 24;
    makeSink(rotation);
    log("ten years later", now + std::chrono::hours(24 * 3653));
    log("now", now);
    sink->flush();
    EXPECT_EQ(allContent(), "ten years later\nnow\n");
    EXPECT_TRUE(rotated.empty()) << "the next rotation would be ten years later";
}

TEST_F(LogFileRotation, DaysAreCountedAgainAfterAClockThatWasAheadIsSetBack) {
    Time now = at(1, 12, 0, 0) + std::chrono::hours(24 * 3653);
    file_rotation rotation;
    rotation.daily = true;
    rotation.clock = [&now] { return now; };
    makeSink(rotation);
    log("ten years ahead", now);
    for (int day = 1; day <= 3; ++day) {
        now = at(day, 12, 0, 0);
        log("day " + std::to_string(day), now);
    }
    sink->flush();
    ASSERT_EQ(rotated.size(), 2u);
    EXPECT_EQ(contentOf(rotated[0]), "ten years ahead\nday 1\n");
    EXPECT_EQ(contentOf(rotated[1]), "day 2\n");
    EXPECT_EQ(contentOf(path), "day 3\n");
}

TEST_F(LogFileRotation, AFailedRotationIsToldAndLosesNothing) {
    makeSink(10);
    log("12345678");
    std::filesystem::rename(path, folder / "elsewhere");
    log("abc");
    EXPECT_THROW(sink->flush(), spdlog::spdlog_ex);
    EXPECT_NO_THROW(sink->flush());
    EXPECT_EQ(contentOf(folder / "elsewhere"), "12345678\nabc\n");
    EXPECT_TRUE(rotated.empty());
}

TEST_F(LogFileRotation, AFailedFooterDoesNotEndTheRotation) {
    spdlog::file_event_handlers handlers;
    handlers.before_close = [calls = 0](const spdlog::filename_t&, std::FILE*) mutable {
        if (++calls == 1) {
            throw std::runtime_error("no footer");
        }
        if (calls == 2) {
            throw calls;  // no std::exception
        }
    };
    makeSink(1, handlers);
    log("a");
    for (const char* const next : {"b", "c"}) {
        EXPECT_NO_THROW(log(next)) << "the line is not lost";
        EXPECT_THROW(sink->flush(), spdlog::spdlog_ex);
    }
    log("d");
    sink->flush();
    ASSERT_EQ(rotated.size(), 3u);
    EXPECT_EQ(allContent(), "a\nb\nc\nd\n");
}

#if !defined(_WIN32)  // wine keeps the name of a removed file that is open
TEST_F(LogFileRotation, ARemovedFileCostsOnlyItsOwnLines) {
    makeSink(2);
    log("a");
    sink->flush();
    std::filesystem::remove(path);
    log("b");
    EXPECT_THROW(sink->flush(), spdlog::spdlog_ex);
    sink->flush();
    EXPECT_EQ(contentOf(path), "b\n");
}
#endif

TEST_F(LogFileRotation, AHookThatThrowsCostsNoLine) {
    makeSink(10);
    hook = [](const std::string&) { throw std::runtime_error("no compressor"); };
    test::Errors errors;
    const auto writer = std::make_shared<backend>();
    async_logger logger("core", sink, writer);
    logger.set_error_handler(errors.handler());
    logger.info("12345678");
    logger.info("abc");
    static_cast<void>(writer->flush_wait());
    EXPECT_EQ(rotated.size(), 1u);
    EXPECT_EQ(allContent(), "12345678\nabc\n");
    EXPECT_EQ(errors.texts(), std::vector<std::string>{"no compressor"});
    EXPECT_EQ(writer->statistics().written, 2u);
}

TEST_F(LogFileRotation, AHookThatThrowsIsStillCalledForEachFile) {
    makeSink(10);
    hook = [this](const std::string& name) {
        if (rotated.size() == 2) {
            throw std::runtime_error("no compressor for " + name);
        }
    };
    std::vector<spdlog::details::log_msg> messages(5, {"core", spdlog::level::info, "12345678"});
    std::size_t taken = 0;
    sink->log_batch(messages.data(), messages.size(), taken);
    EXPECT_THROW(sink->flush(), std::runtime_error);
    EXPECT_NO_THROW(sink->flush());
    EXPECT_EQ(rotated.size(), 4u);
}

TEST_F(LogFileRotation, TheHookMayLogToTheSameSink) {
    makeSink(10);
    hook = [this](const std::string&) {
        if (rotated.size() == 1) {
            log("x");
        }
    };
    log("12345678");
    log("abc");
    sink->flush();
    EXPECT_EQ(contentOf(path), "abc\nx\n");
}

// ---- Old files

class LogFileRetention : public LogFileRotation {
protected:
    const std::filesystem::file_time_type now = std::filesystem::file_time_type::clock::now();

    /// Makes a file that was last written so many days ago.
    std::string makeFile(const std::string& name, int daysAgo, std::size_t size = 0) {
        std::ofstream(folder / name) << std::string(size, 'x');
        setAge(name, daysAgo);
        return name;
    }
    void setAge(const std::string& name, int days) {
        std::filesystem::last_write_time(folder / name, now - std::chrono::hours(24 * days));
    }
    /// The names in the folder, except that of the file being written.
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder / ".")) {
            names.push_back(entry.path().filename().string());
        }
        names.erase(std::remove(names.begin(), names.end(), "core.log"), names.end());
        std::sort(names.begin(), names.end());
        return names;
    }
    using Names = std::vector<std::string>;

    // By name, the oldest is the newest.
    const std::string oldest = makeFile("core.20260101-000000-0000.log", 3, 30);
    const std::string older = makeFile("core.20250101-000000-10000.log", 2, 20);
    const std::string newest = makeFile("core.20250101-000000-9999.log", 1, 10);
    file_rotation rotation;
};

TEST_F(LogFileRetention, TheNewestFilesOfAllRunsRemain) {
    rotation.max_bytes = 10;
    rotation.max_files = 2;
    makeSink(rotation);
    EXPECT_EQ(files(), (Names{older, newest}));
    for (int line = 0; line < 5; ++line) {
        log("12345678" + std::to_string(line));
    }
    sink->flush();
    ASSERT_EQ(rotated.size(), 4u) << "the hook is called before the file is deleted";
    EXPECT_EQ(allContent(), "123456782\n123456783\n123456784\n");
    EXPECT_EQ(files().size(), 2u);
}

TEST_F(LogFileRetention, FilesInOneSecondAreInTheOrderOfTheirNumbers) {
    for (const std::string& name : {oldest, older, newest}) {
        std::filesystem::last_write_time(folder / name,
                                         std::filesystem::file_time_type(std::chrono::seconds(0)));
    }
    std::filesystem::remove(folder / oldest);
    rotation.max_bytes = 10;
    rotation.max_files = 1;
    makeSink(rotation);
    EXPECT_EQ(files(), Names{older}) << "10000 follows 9999";
}

TEST_F(LogFileRetention, AFileStaysWhileItsHookRunsOnAnotherThread) {
    test::Gate gate;
    rotation.max_bytes = 1;
    rotation.max_files = 1;
    std::atomic<int> calls{0};
    std::string first;
    rotation.after_rotation = [&](const std::string& name) {
        if (calls++ == 0) {
            first = name;
            gate.pass();
        }
    };
    sink = std::make_shared<file_sink_mt>(path);
    sink->set_rotation(rotation);
    const auto logSome = [this] {
        for (int i = 0; i < 4; ++i) {
            log(std::to_string(i));
            sink->flush();
        }
    };
    std::thread other(logSome);
    gate.awaitArrival();
    logSome();
    EXPECT_TRUE(std::filesystem::exists(first));
    gate.open();
    other.join();
    EXPECT_FALSE(std::filesystem::exists(first));
}

TEST_F(LogFileRetention, AFileStaysUntilItsHookWasCalledAlsoIfHooksLogAndTheNameHasNoFolder) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / ".");
    for (const std::string& name : {path, std::string("bare.log")}) {
        int calls = 0;
        file_sink_mt chatty(name);
        chatty.set_pattern("%v");
        const auto logSome = [&](int count) {
            for (int i = 0; i < count; ++i) {
                chatty.log({at(1, 12, 0, 0), {}, "core", spdlog::level::info, std::to_string(i)});
                chatty.flush();
            }
        };
        rotation.max_bytes = 1;
        rotation.max_files = 1;
        rotation.after_rotation = [&](const std::string& old) {
            EXPECT_TRUE(std::filesystem::exists(old)) << old;
            logSome(calls++ == 0 ? 4 : 0);
        };
        chatty.set_rotation(rotation);
        logSome(2);
        EXPECT_EQ(calls, 5) << name;
    }
    std::filesystem::current_path(before);
    EXPECT_EQ(files().size(), 3u) << "an old file of each name, and bare.log";
}

TEST_F(LogFileRetention, AFileFromTheFutureIsTheOldest) {
    makeFile("core.20360101-000000-0000.log", -3653);
    rotation.daily = true;
    rotation.max_files = 3;
    makeSink(rotation);
    EXPECT_EQ(files(), (Names{older, newest, oldest}));
}

TEST_F(LogFileRetention, FilesBeyondAnAgeAreDeleted) {
    rotation.daily = true;
    rotation.max_age = std::chrono::hours(36);
    makeSink(rotation);
    EXPECT_EQ(files(), Names{newest});
}

TEST_F(LogFileRetention, TheOldestFilesBeyondASumAreDeleted) {
    rotation.daily = true;
    rotation.max_total_bytes = 30;
    makeSink(rotation);
    EXPECT_EQ(files(), (Names{older, newest}));
}

TEST_F(LogFileRetention, FilesWithOtherNamesRemain) {
    const Names others{"core.20250101-000000-000.log",    "core.20250101-000000-0000.log.gz",
                       "core.20250101-000000-0000.txt",   "core.20250101-000000-00x0.log",
                       "core.20250101.000000-0000.log",   "core.log.20250101-000000-0000",
                       "mycore.20250101-000000-0000.log", "core.a.20250101-000000-0000.log",
                       "core.20250101-000000-0000x.log"};
    for (const std::string& name : others) {
        makeFile(name, 9);
    }
    rotation.daily = true;
    rotation.max_age = std::chrono::seconds(1);
    makeSink(rotation);
    Names expected = others;
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(files(), expected);
}

TEST_F(LogFileRetention, OnlyFilesAreCountedAndDeleted) {
    Names expected{older, newest, "core.20260102-000000-0000.log"};
    std::filesystem::create_directory(folder / expected.back());
#if !defined(_WIN32)  // only administrators make links there
    expected.emplace_back("core.20260103-000000-0000.log");
    std::filesystem::create_symlink("elsewhere", folder / expected.back());
#endif
    rotation.daily = true;
    rotation.max_files = 2;
    makeSink(rotation);
    EXPECT_EQ(files(), expected);
}

TEST_F(LogFileRetention, AFileThatCannotBeDeletedIsTold) {
    rotation.daily = true;
    rotation.max_files = 2;
    makeSink({});
#if defined(_WIN32)
    std::ifstream reader(folder / oldest);
    sink->set_rotation(rotation);
    reader.close();
#else
    const ::uid_t user = ::geteuid();
    ASSERT_EQ(::chmod((folder / ".").c_str(), 0555), 0);
    ASSERT_EQ(::seteuid(user == 0 ? 65534 : user), 0);
    sink->set_rotation(rotation);
    ASSERT_EQ(::seteuid(user), 0);
    ASSERT_EQ(::chmod((folder / ".").c_str(), 0755), 0);
#endif
    EXPECT_EQ(files().size(), 3u);
    try {
        sink->flush();
        FAIL() << "nothing was told";
    } catch (const spdlog::spdlog_ex& error) {
        EXPECT_EQ(std::string(error.what()),
                  "Failed deleting file " + (folder / oldest) + ": Permission denied");
    }
    EXPECT_NO_THROW(sink->flush());
}

TEST_F(LogFileRetention, ANameWithoutFolderMeansTheCurrentOne) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / ".");
    file_sink_st here("core.log");
    rotation.daily = true;
    rotation.max_files = 1;
    here.set_rotation(rotation);
    std::filesystem::current_path(before);
    EXPECT_EQ(files(), Names{newest});
}

TEST_F(LogFileRetention, ASettingThatMakesNoSenseIsRefused) {
    const auto refusal = [this](const auto& change) -> std::string {
        file_rotation wrong;
        wrong.daily = true;
        change(wrong);
        file_sink_st refusing(path);
        try {
            refusing.set_rotation(wrong);
        } catch (const spdlog::spdlog_ex& error) {
            return std::string(error.what()).substr(sizeof "sluice::log::file_rotation: " - 1);
        }
        return "accepted";
    };
    using Wrong = file_rotation&;
    EXPECT_EQ(refusal([](Wrong it) { it.hour = 24; }), "hour: 24, limit 0 to 23");
    EXPECT_EQ(refusal([](Wrong it) { it.minute = -1; }), "minute: -1, limit 0 to 59");
    EXPECT_EQ(refusal([](Wrong it) { it.max_age = std::chrono::seconds(-5); }),
              "max_age: -5, limit 0 or more");
    EXPECT_EQ(refusal([](Wrong it) {
                  it.max_bytes = 100;
                  it.max_total_bytes = 99;
              }),
              "max_total_bytes: 99, limit max_bytes or more");
    EXPECT_EQ(refusal([](Wrong it) {
                  it.daily = false;
                  it.max_files = 3;
              }),
              "max_bytes: 0, limit 1 or more for limits of rotated files");
    EXPECT_EQ(refusal([](Wrong it) { it.clock = nullptr; }), "clock: null, limit a function");
    EXPECT_EQ(files().size(), 3u);
}

// ---- A file that others rename or remove

class LogMovedFile : public testing::Test {
protected:
    void log(file_sink_st& sink, const char* text) {
        sink.set_pattern("%v");
        sink.log({"core", spdlog::level::info, text});
    }

    const TemporaryFolder folder;
    const std::string path = folder / "log.txt";
};

TEST_F(LogMovedFile, ReopenSplitsTheLinesBetweenTheOldFileAndTheNewOne) {
    file_sink_st sink(path);
    log(sink, "one");
    std::filesystem::rename(path, folder / "old.txt");
    log(sink, "two");
    sink.reopen();
    log(sink, "three");
    sink.flush();
    EXPECT_EQ(contentOf(folder / "old.txt"), "one\ntwo\n");
    EXPECT_EQ(contentOf(path), "three\n");
}

#if defined(__linux__)
TEST_F(LogMovedFile, ReopenWritesTheLinesOfAFullDiskIntoTheNewFile) {
    std::filesystem::create_symlink("/dev/full", path);
    file_sink_st sink(path);
    log(sink, "one");
    EXPECT_THROW(sink.flush(), spdlog::spdlog_ex);
    std::filesystem::remove(path);
    sink.reopen();
    EXPECT_EQ(contentOf(path), "one\n");
}
#endif

TEST_F(LogMovedFile, AFileThatCannotBeReopenedIsTriedAgain) {
    file_sink_st sink(path);
    std::filesystem::rename(path, folder / "moved");
    std::filesystem::create_directory(path);
    EXPECT_THROW(sink.reopen(), spdlog::spdlog_ex);
    log(sink, "one");
    EXPECT_THROW(sink.flush(), spdlog::spdlog_ex);
    std::filesystem::remove(path);
    sink.flush();
    EXPECT_EQ(contentOf(path), "one\n");
}

// Each attempt may take long. Half of the records would need minutes if only time limited them.
TEST_F(LogMovedFile, AFileThatCannotBeOpenedIsNotTriedForEachRecord) {
    const std::string inner = folder / "inner/log.txt";
    int attempts = 0;
    spdlog::file_event_handlers handlers;
    handlers.before_open = [&](const std::string&) { ++attempts; };
    {
        file_sink_st sink(inner, false, handlers);
        sink.watch_file();
        std::filesystem::rename(inner, folder / "moved");
        std::filesystem::create_directory(inner);
        const std::string text(11000, 'x');
        for (int i = 0; i < 200; ++i) {
            const spdlog::details::log_msg message("core", spdlog::level::info, text);
            std::size_t taken = 0;
            try {
                sink.log_batch(&message, 1, taken);
            } catch (const spdlog::spdlog_ex&) {
                EXPECT_GE(sink.unwritten_bytes(), std::size_t{1} << 20U);
            }
        }
        EXPECT_LT(attempts, 100);
        std::filesystem::remove(inner);
    }
    EXPECT_GT(contentOf(inner).size(), std::size_t{1} << 20U);
}

TEST_F(LogMovedFile, AWatchedFileThatWasRenamedIsOpenedAgain) {
    int opened = 0;
    spdlog::file_event_handlers handlers;
    handlers.after_open = [&](const std::string&, std::FILE*) { ++opened; };
    file_sink_st sink(path, false, handlers);
    sink.watch_file();
    log(sink, "one");
    sink.flush();
    std::filesystem::rename(path, folder / "old.txt");
    log(sink, "two");
    sink.flush();
    EXPECT_EQ(contentOf(folder / "old.txt"), "one\n");
    EXPECT_EQ(contentOf(path), "two\n");
    EXPECT_EQ(opened, 2);
#if !defined(_WIN32)
    std::filesystem::remove(path);
    log(sink, "three");
    sink.flush();
    EXPECT_EQ(contentOf(path), "three\n") << "what was in the removed file is gone with it";
#endif
}

}  // namespace
}  // namespace sluice::log
