// The two whole programs of docs/guide/distributed.md, each as two processes.
#include "nats_server.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::nats
