#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

/// Runs the fleet, and expects that its accounts are right. Its output is no terminal, so it has
/// plain lines only.
void runFleet(const std::string& arguments) {
    FILE* const fleet = popen(("exec " SLUICE_FLEET_WITH_SERVERS " " + arguments).c_str(), "r");
    ASSERT_NE(fleet, nullptr);
    std::string output;
    std::array<char, 256> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), fleet) != nullptr) {
        output += line.data();
    }
    EXPECT_EQ(pclose(fleet), 0);
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

}  // namespace
