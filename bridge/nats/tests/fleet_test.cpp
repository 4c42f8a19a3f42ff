#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include <sys/types.h>

namespace {

/// Runs the command. Returns its status, and what it writes. This is no terminal, so the fleet
/// writes plain lines only.
std::pair<int, std::string> run(const std::string& command) {
    FILE* const program = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 256> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), program) != nullptr) {
        output += line.data();
    }
    return {pclose(program), output};
}

/// Runs the fleet, and expects that its accounts are right.
void runFleet(const std::string& arguments) {
    const auto [status, output] = run("exec " SLUICE_FLEET_WITH_SERVERS " " + arguments);
    EXPECT_EQ(status, 0);
    EXPECT_NE(output.find("\nhost 1 was killed\nhost 1 was started again\n"), std::string::npos)
        << output;
    EXPECT_NE(output.find("\neach reading was seen by all others, once by those that were not "
                          "killed\n"),
              std::string::npos)
        << output;
    EXPECT_EQ(output.find('\033'), std::string::npos) << output;
}

TEST(FleetTest, EachReadingIsSeenAlthoughAHostIsKilled) {
    runFleet("--seconds 3");
}

TEST(FleetTest, EachReadingIsSeenAlthoughTheLeaderOfThreeServersIsKilled) {
    runFleet("--servers 3 --seconds 3");
}

TEST(FleetTest, AWrongTimeIsOneLine) {
    for (const std::string text : {"x", "0", "-1", "3x", "86401", "99999999999999999999", "''"}) {
        const auto [status, output] =
            run("exec " SLUICE_FLEET_WITH_SERVERS " --servers 3 --seconds " + text + " 2>&1");
        EXPECT_NE(status, 0);
        EXPECT_EQ(output, "fleet_with_servers: seconds is '" + (text == "''" ? "" : text) +
                              "'; it must be a number from 1 to 86400\n");
    }
}

TEST(FleetTest, ATerminatedFleetLeavesNoFolder) {
    const sluice::test::TemporaryFolder folder;
    // The first line of the output is the number of the process.
    FILE* const fleet = popen(("echo $$; TEST_TMPDIR=" + folder / "" +
                               " exec " SLUICE_FLEET_WITH_SERVERS " --seconds 3600")
                                  .c_str(),
                              "r");
    std::array<char, 256> line{};
    ASSERT_NE(std::fgets(line.data(), static_cast<int>(line.size()), fleet), nullptr);
    const pid_t process = std::stoi(line.data());
    ASSERT_NE(std::fgets(line.data(), static_cast<int>(line.size()), fleet), nullptr);
    EXPECT_EQ(line.data(), std::string("the hosts start\n"));
    EXPECT_FALSE(std::filesystem::is_empty(folder / ""));
    (void)kill(process, SIGTERM);
    EXPECT_NE(pclose(fleet), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

}  // namespace
