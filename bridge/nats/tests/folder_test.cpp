#include "notes.hpp"
#include "small_disk.hpp"
#include "station.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};

NatsOptions withFolder(const NatsServer& server, const std::string& folder) {
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxFolder = folder;
    return options;
}

/// Runs a bridge that ends with five high messages in its outbox, because the server was killed.
void leaveFive(NatsServer& server, const std::string& folder) {
    Station sender(withFolder(server, folder));
    auto outlet = sender.bridge.outlet<Position>(durable);
    server.kill();
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(outlet.send({i, 0.0}, Priority::high), OutletResult::ok);
    }
    EXPECT_FALSE(sender.bridge.close(10ms));
    server.start();
}

std::string onlyFileIn(const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        found.push_back(entry.path());
    }
    EXPECT_EQ(found.size(), 1U);
    return found.at(0);
}

/// The messages that a receiver gets from a new process with these options, until the outbox is
/// empty.
std::vector<int> replayed(const NatsServer& server, const NatsOptions& options,
                          std::uint64_t damaged = 0) {
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    Station sender(options);
    EXPECT_EQ(sender.bridge.statistics().damaged, damaged);
    EXPECT_TRUE(sender.bridge.close(patience));
    receiver.consume(sender.bridge.statistics().replayed);
    EXPECT_EQ(sender.bridge.statistics().acknowledged, sender.bridge.statistics().replayed);
    return receiver.seen;
}
std::vector<int> replayed(const NatsServer& server, const std::string& folder) {
    return replayed(server, withFolder(server, folder));
}

TEST(FolderTest, TheNextProcessSendsWhatTheLastOneLeft) {
    NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    leaveFive(server, folder / "outbox");
    EXPECT_EQ(replayed(server, folder / "outbox"), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(replayed(server, folder / "outbox"), (std::vector<int>{}));
}

// The program imports what it exports. The origin in its options is 0.
TEST(FolderTest, TheNextProcessDropsTheMessagesOfTheLastOne) {
    NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    {
        Station first(withFolder(server, folder / "outbox"));
        first.bridge.importType<Position>(durable);
    }
    leaveFive(server, folder / "outbox");
    Station next(withFolder(server, folder / "outbox"));
    next.bridge.importType<Position>(durable);
    await([&] { return next.bridge.statistics().received == 5; });
    EXPECT_EQ(next.bridge.statistics().looped, 5U);
}

/// Changes one byte of a file.
void damage(const std::string& file, std::size_t at, int bit = 0x40) {
    std::string content = contentOf(file);
    content.at(at) = static_cast<char>(content.at(at) ^ bit);
    std::ofstream(file, std::ios::binary) << content;
}

// The head of a segment has 16 bytes, with the number of done messages at 8. Five records follow.
TEST(FolderTest, ADamagedFileLosesOnlyTheDamagedMessages) {
    using Messages = std::vector<int>;
    const struct {
        const char* what;
        std::function<void(const std::string&, std::size_t record)> change;
        Messages left;
        std::uint64_t lines;
    } cases[] = {
        {"tail",
         [](const auto& file, auto record) { std::filesystem::resize_file(file, 5 * record + 13); },
         {0, 1, 2, 3},
         0},
        {"third record",
         [](const auto& file, auto record) { damage(file, 16 + 5 * record / 2, 1); },
         {0, 1, 3, 4},
         1},
        {"length of the third record",
         [](const auto& file, auto record) { damage(file, 16 + 2 * record + 5); },
         {0, 1, 3, 4},
         1},
        {"second record, and two are done",
         [](const auto& file, auto record) {
             damage(file, 16 + record + 20);
             damage(file, 8, 0x02);
             damage(file, 12, 0x02);
         },
         {0, 2, 3, 4},
         1},
        {"number of done messages",
         [](const auto& file, auto) { damage(file, 9); },
         {0, 1, 2, 3, 4},
         0},
        {"number that looks right",
         [](const auto& file, auto) { damage(file, 8, 0x04); },
         {0, 1, 2, 3, 4},
         0},
    };
    for (const auto& each : cases) {
        NatsServer server(NatsServer::withStreams);
        const TemporaryFolder folder;
        leaveFive(server, folder / "outbox");
        const std::string segment = onlyFileIn(folder / "outbox/high");
        each.change(segment, (std::filesystem::file_size(segment) - 16) / 5);
        Notes notes;
        NatsOptions options = withFolder(server, folder / "outbox");
        options.observer = &notes;
        EXPECT_EQ(replayed(server, options, each.lines), each.left) << each.what;
        EXPECT_EQ(notes.count("nats: the outbox has lost messages in a damaged file: " + segment),
                  static_cast<long>(each.lines))
            << each.what;
    }
}

// A segment ends at 4 MiB. It is removed when all its messages are done. The newest segment is
// removed when the process ends.
TEST(FolderTest, DoneSegmentsAreRemoved) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    {
        Station sender(withFolder(server, folder / "outbox"));
        auto outlet = sender.bridge.outlet<Picture>({"picture", 1, Profile::durable});
        for (int i = 0; i < 5000;) {
            i += outlet.send(Picture{}, Priority::high) == OutletResult::ok ? 1 : 0;
        }
        await([&] { return sender.bridge.statistics().held == 0; });
        EXPECT_NE(onlyFileIn(folder / "outbox/high"), folder / "outbox/high/1.outbox");
        EXPECT_TRUE(sender.bridge.close(patience));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder / "outbox/high"));
}

TEST(FolderTest, AFolderThatIsInUseIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const Station first(withFolder(server, folder / "outbox"));
    EXPECT_EQ(failureOf(withFolder(server, folder / "outbox")),
              "nats: another process uses the outbox folder " + folder / "outbox/high");
}

TEST(FolderTest, ASegmentOfAnotherVersionIsOneLineAndIsKept) {
    NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    leaveFive(server, folder / "outbox");
    const std::string segment = onlyFileIn(folder / "outbox/high");
    damage(segment, 7);
    EXPECT_EQ(failureOf(withFolder(server, folder / "outbox")),
              "nats: the outbox cannot read " + segment +
                  ": it is damaged, or of another version. Move it away");
    damage(segment, 7);
    EXPECT_EQ(replayed(server, folder / "outbox"), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(FolderTest, MessagesOfAPriorityThatIsNoLongerKeptAreSent) {
    NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    {
        NatsOptions options = withFolder(server, folder / "outbox");
        options.durable.onDiskFrom = Priority::medium;
        Station sender(options);
        auto outlet = sender.bridge.outlet<Position>(durable);
        server.kill();
        EXPECT_FALSE(std::filesystem::exists(folder / "outbox/low"));
        ASSERT_EQ(outlet.send({7, 0.0}, Priority::medium), OutletResult::ok);
        EXPECT_FALSE(sender.bridge.close(10ms));
        server.start();
    }
    EXPECT_EQ(replayed(server, folder / "outbox"), std::vector<int>{7});
}

// After a loss of power, or with a damaged number, a folder has more messages than the outbox.
TEST(FolderTest, AnOutboxThatIsSmallerThanItsFolderSendsAllMessages) {
    NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    leaveFive(server, folder / "outbox");
    NatsOptions options = withFolder(server, folder / "outbox");
    options.durable.outboxMessages = 4;
    options.maxMessageSize = 65;
    server.kill();
    options.startWithoutServer = true;
    {
        Station sender(options);
        auto outlet = sender.bridge.outlet<Position>(durable);
        EXPECT_EQ(sender.bridge.statistics().held, 5U);
        EXPECT_EQ(outlet.send({5, 0.0}, Priority::high), OutletResult::congested);
    }
    server.start();
    EXPECT_EQ(replayed(server, options), (std::vector<int>{0, 1, 2, 3, 4}));
}

// Otherwise the next start of the first program would have another origin.
TEST(FolderTest, AProgramThatFindsTheFolderInUseDoesNotWriteAnOrigin) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const Station first(withFolder(server, folder / "outbox"));
    EXPECT_EQ(contentOf(folder / "outbox/origin"), std::to_string(first.bridge.origin()) + "\n");
    std::filesystem::remove(folder / "outbox/origin");
    EXPECT_NE(failureOf(withFolder(server, folder / "outbox")), "no failure");
    EXPECT_FALSE(std::filesystem::exists(folder / "outbox/origin"));
}

// The folder exists, and the disk has no room.
TEST(FolderTest, AFullDiskAtTheStartIsOneLineAndIsCounted) {
    const SmallDisk disk(64);
    if (!disk) {
        GTEST_SKIP() << "mounting a file system needs more rights";
    }
    const std::string filler = disk.path() + "/filler";
    std::ofstream(filler) << std::string(64 * 1024, 'x');
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = withFolder(server, disk.path() + "/outbox");
    options.observer = &notes;
    Station sender(options);
    const std::string line = "nats: the disk of the outbox accepts no more messages";
    EXPECT_EQ(notes.count(line), 1);
    auto outlet = sender.bridge.outlet<Position>(durable);
    EXPECT_EQ(outlet.send({1, 0.0}, Priority::high), OutletResult::notOnDisk);
    EXPECT_EQ(outlet.send({1, 0.0}, Priority::high), OutletResult::notOnDisk);
    EXPECT_EQ(sender.bridge.statistics().notOnDisk, 2U);
    EXPECT_EQ(notes.count(line), 1);
    std::filesystem::remove(filler);
    EXPECT_EQ(outlet.send({2, 0.0}, Priority::high), OutletResult::ok);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 1U);
}

TEST(FolderTest, AFileWithAnotherNameIsOneLine) {
    NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    leaveFive(server, folder / "outbox");
    const std::string segment = onlyFileIn(folder / "outbox/high");
    const std::string copy = folder / "outbox/high/1 (copy).outbox";
    std::filesystem::copy_file(segment, copy);
    Notes notes;
    NatsOptions options = withFolder(server, folder / "outbox");
    options.observer = &notes;
    Station sender(options);
    EXPECT_EQ(notes.count("nats: the outbox ignores a file that is no segment: " + copy), 1);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().replayed, 5U);
}

}  // namespace
}  // namespace sluice::nats
