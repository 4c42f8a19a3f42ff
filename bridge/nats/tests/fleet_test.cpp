#include "nats_server.hpp"

#include <gtest/gtest.h>

#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {
namespace {

TEST(FleetTest, EachReadingIsSeenAlthoughAHostIsKilled) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const std::string url = server.url();
    const std::string place = folder / ".";
    const pid_t process = fork();
    if (process == 0) {
        execl(SLUICE_FLEET, "fleet", url.c_str(), place.c_str(), "3", static_cast<char*>(nullptr));
        _exit(127);
    }
    int status = 1;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sluice::test
