#include "nats_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace sluice::test {
namespace {

TEST(FleetTest, EachReadingIsSeenAlthoughAHostIsKilled) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const std::string command = "exec " SLUICE_FLEET " " + server.url() + " " + folder / "." + " 3";
    FILE* const fleet = popen(command.c_str(), "r");
    ASSERT_NE(fleet, nullptr);
    std::string accounts;
    std::array<char, 256> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), fleet) != nullptr) {
        accounts += line.data();
    }
    EXPECT_EQ(pclose(fleet), 0);
    EXPECT_NE(accounts.find("\neach reading was seen by all others, once by those that were not "
                            "killed\n"),
              std::string::npos)
        << accounts;
}

}  // namespace
}  // namespace sluice::test
