#include <sluice/log/file_sink.hpp>

#include <gtest/gtest.h>

#include <io.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

// Others may rename a file of the log while it is open. Wine 8 keeps the name of a deleted one, so
// that case is not tested.

namespace sluice::test {
namespace {

class LogFileTest : public testing::Test {
protected:
    LogFileTest() {
        std::remove(name.c_str());
        std::remove(moved.c_str());
        spdlog::file_event_handlers handlers;
        handlers.after_open = [this](const spdlog::filename_t&, std::FILE*) { ++opened; };
        sink = std::make_unique<log::file_sink_st>(name, true, handlers);
        sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
            "%v", spdlog::pattern_time_type::local, "\n"));
    }

    void write(const std::string& line) {
        sink->log({"test", spdlog::level::info, line});
        sink->flush();
    }
    static std::string textOf(const std::string& file) {
        std::ifstream text(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(text), {}};
    }

    const std::string name = testing::TempDir() + "sluice_log_file_test.log";
    const std::string moved = testing::TempDir() + "sluice_log_file_test.moved";
    int opened = 0;
    std::unique_ptr<log::file_sink_st> sink;
};

TEST_F(LogFileTest, FollowsItsNameAndReopensOnlyThen) {
    sink->watch_file();
    write("one");
    write("two");
    EXPECT_EQ(opened, 1);
    ASSERT_EQ(std::rename(name.c_str(), moved.c_str()), 0);
    write("three");
    write("four");
    EXPECT_EQ(opened, 2);
    EXPECT_EQ(textOf(moved), "one\ntwo\n");
    EXPECT_EQ(textOf(name), "three\nfour\n");
}

TEST_F(LogFileTest, RotatesAndDeletesTheOldest) {
    std::vector<std::string> rotated;
    log::file_rotation rotation;
    rotation.max_bytes = 10;
    rotation.max_files = 1;
    rotation.after_rotation = [&](const spdlog::filename_t& file) { rotated.push_back(file); };
    sink->set_rotation(rotation);
    for (const char* const line : {"12345678", "23456789", "34567890"}) {
        write(line);
    }
    ASSERT_EQ(rotated.size(), 2U);
    EXPECT_EQ(textOf(rotated[0]), "");
    EXPECT_EQ(textOf(rotated[1]), "23456789\n");
    EXPECT_EQ(textOf(name), "34567890\n");
    std::remove(rotated[1].c_str());
}

TEST_F(LogFileTest, FileHasMoreThanFourGigabytes) {
    sink.reset();
    constexpr std::int64_t large = 5'000'000'000;
    std::FILE* const file = std::fopen(name.c_str(), "wb");
    ASSERT_EQ(_chsize_s(_fileno(file), large), 0);  // without blocks on the disk
    std::fclose(file);
    log::file_rotation rotation;
    rotation.max_bytes = large;
    std::string rotated;
    rotation.after_rotation = [&](const spdlog::filename_t& old) { rotated = old; };
    sink = std::make_unique<log::file_sink_st>(name);
    sink->set_rotation(rotation);
    write("next");
    struct _stat64 status {};
    ASSERT_EQ(_stat64(rotated.c_str(), &status), 0) << rotated;
    EXPECT_EQ(status.st_size, large);
    std::remove(rotated.c_str());
}

}  // namespace
}  // namespace sluice::test
