#include <sluice/log/file_sink.hpp>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::test
