// The two whole programs of docs/guide/distributed.md, each as two processes.
#include "nats_server.hpp"

#include <gtest/gtest.h>
#include <support/temporary_folder.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace sluice::nats {
namespace {

struct PipeCloser {
    void operator()(std::FILE* pipe) const noexcept { (void)pclose(pipe); }
};

std::string lineOf(std::FILE* pipe) {
    std::array<char, 200> line{};
    return std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr ? line.data()
                                                                                   : "";
}

TEST(FirstProgramTest, TheReceiverShowsThePositionOfTheSender) {
    const test::NatsServer server;
    const std::string command = SLUICE_FIRST_DISTRIBUTED " " + server.url();
    const std::unique_ptr<std::FILE, PipeCloser> receiver(popen(command.c_str(), "r"));
    ASSERT_NE(receiver, nullptr);
    ASSERT_EQ(lineOf(receiver.get()), "waiting for a position\n");
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the test has one thread
    EXPECT_EQ(std::system((command + " send").c_str()), 0);
    EXPECT_EQ(lineOf(receiver.get()), "robot 7 is at 1, 2\n");
}

TEST(FirstProgramTest, TheDurableReceiverGetsTheAlarmThatWasSentWhileItWasAway) {
    const test::NatsServer server(test::NatsServer::withStreams);
    const std::string command = SLUICE_FIRST_DURABLE " " + server.url();
    std::unique_ptr<std::FILE, PipeCloser> receiver;
    const auto start = [&] {
        receiver.reset(popen(command.c_str(), "r"));
        ASSERT_NE(receiver, nullptr);
        ASSERT_EQ(lineOf(receiver.get()), "waiting for an alarm\n");
    };
    const auto send = [&] {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the test has one thread
        ASSERT_EQ(std::system((command + " send").c_str()), 0);
    };
    start();  // the server learns of the importer
    send();
    EXPECT_EQ(lineOf(receiver.get()), "alarm 7\n");
    receiver.reset();  // waits for the end of the program
    send();
    start();
    EXPECT_EQ(lineOf(receiver.get()), "alarm 7\n");
}

#if defined(SLUICE_NATS_RECORDING)
TEST(FirstProgramTest, ARecordedPositionIsPublishedAgain) {
    const test::NatsServer server;
    const sluice::test::TemporaryFolder folder;
    const std::string first = SLUICE_FIRST_DISTRIBUTED " " + server.url();
    const std::string ours =
        SLUICE_NATS_RECORDING " " + server.url() + " " + (folder / "fleet.mcap");
    std::unique_ptr<std::FILE, PipeCloser> receiver(popen((ours + " 1").c_str(), "r"));
    ASSERT_EQ(lineOf(receiver.get()), "recording\n");
    // NOLINTBEGIN(concurrency-mt-unsafe): the test has one thread
    EXPECT_EQ(std::system((first + " send").c_str()), 0);
    receiver.reset();  // waits for the end of the program
    receiver.reset(popen(first.c_str(), "r"));
    ASSERT_EQ(lineOf(receiver.get()), "waiting for a position\n");
    EXPECT_EQ(std::system(ours.c_str()), 0);
    // NOLINTEND(concurrency-mt-unsafe)
    EXPECT_EQ(lineOf(receiver.get()), "robot 7 is at 1, 2\n");
}
#endif

}  // namespace
}  // namespace sluice::nats
