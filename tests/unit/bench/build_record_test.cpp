// How the benchmark is compiled, and that its reports know.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sluice::bench {
namespace {

class BuildRecordTest : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    // One file for each line of flags. Whether the record could be made of them.
    bool record(const std::vector<std::string>& flags) const {
        nlohmann::json commands = nlohmann::json::array();
        for (const std::string& each : flags) {
            commands.push_back({{"file", folder_ + "/a.cpp"}, {"command", "c++ -Wall " + each}});
        }
        std::ofstream(folder_ + "/commands.json") << commands;
        const std::string call = "\"" SLUICE_CMAKE "\" -DCOMMANDS=" + folder_ +
                                 "/commands.json -DFOLDER=" + folder_ + " -DOUTPUT=" + folder_ +
                                 "/record.cpp -P \"" SLUICE_SOURCE_DIR
                                 "/bench/cmake/build_record.cmake\" 2> " +
                                 folder_ + "/errors";
        // NOLINTNEXTLINE(concurrency-mt-unsafe): there is no other thread
        return std::system(call.c_str()) == 0;
    }

    std::string contentOf(const std::string& name) const {
        std::ifstream file(folder_ + "/" + name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    const std::string folder_ = testing::TempDir() + "sluice_record_" +
                                testing::UnitTest::GetInstance()->current_test_info()->name();
};

// The flags come from the commands that compiled the subjects, and are the same for all.
TEST_F(BuildRecordTest, HoldsTheFlagsOfAllSources) {
    ASSERT_TRUE(record({"-O3 -march=native -std=c++17", "-O3 -march=native -std=c++17"}));
    EXPECT_NE(contentOf("record.cpp").find("{\"-O3 -march=native -std=c++17\", 2}"),
              std::string::npos);
}

// Subjects of which one was compiled otherwise are not measured at all.
TEST_F(BuildRecordTest, RefusesMixedFlags) {
    const std::string usual = "-O3 -DNDEBUG";
    for (const char* const other : {"-O2 -DNDEBUG", "-O3", "-O3 -DNDEBUG -march=native",
                                    "-O3 -DNDEBUG -fsanitize=address", "-O3 -DNDEBUG -flto"}) {
        EXPECT_FALSE(record({usual, other})) << other;
        EXPECT_NE(contentOf("errors").find("different flags"), std::string::npos) << other;
    }
}

}  // namespace
}  // namespace sluice::bench
