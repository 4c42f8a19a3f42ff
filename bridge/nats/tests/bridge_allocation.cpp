#include "small_disk.hpp"
#include "station.hpp"
#include "support/allocation_count.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sluice::nats {
namespace {

using namespace test;

// libnats copies a message by malloc(), on the thread of the outbox.
TEST(BridgeAllocationTest, TheOutboxAllocatesNothing) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    const NatsRoute durable{"position", 1, Profile::durable};
    sender.bridge.exportType<Position>(durable);
    auto outlet = sender.bridge.outlet<Position>(durable);
    sender.seen.reserve(200);
    sender.priorities.reserve(200);
    sender.send(0);
    const AllocationCount count;
    for (int i = 1; i <= 100; ++i) {
        sender.send(i);
        EXPECT_EQ(outlet.send(Position{i, 0.0}, Priority::high), OutletResult::ok);
    }
    EXPECT_EQ(count.allocationsByNew(), 0U);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 201U);
}

/// The first message is not counted, because it allocates the entry of its origin.
void expectNoAllocations(Station& sender, Station& receiver) {
    for (Station* station : {&sender, &receiver}) {
        station->seen.reserve(200);
        station->priorities.reserve(200);
    }
    sender.send(0);
    receiver.consume(1);
    // Not malloc(), because libnats allocates each message with it.
    const AllocationCount count;
    for (int i = 1; i <= 100; ++i) {
        sender.send(i);
        receiver.consume(static_cast<std::size_t>(i) + 1);
    }
    EXPECT_EQ(count.allocationsByNew(), 0U);
}

TEST(BridgeAllocationTest, ImportingAllocatesNothingOnceTheOriginIsKnown) {
    const NatsServer server;
    Station sender(server);
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    sender.bridge.exportType<Position>({"position"});
    expectNoAllocations(sender, receiver);
}

// A message waits for its handlers before the server gets the verdict.
TEST(BridgeAllocationTest, ImportingUntilHandledAllocatesNothingOnceTheOriginIsKnown) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>({"position", 1, Profile::durable, true});
    sender.bridge.exportType<Position>({"position", 1, Profile::durable});
    expectNoAllocations(sender, receiver);
}

/// While it lives, the calling thread gets no memory from operator new.
class Shortage {
public:
    Shortage() {
        failAllocationsWhile(isShort());
        isShort() = true;
    }
    Shortage(const Shortage&) = delete;
    Shortage& operator=(const Shortage&) = delete;
    ~Shortage() { isShort() = false; }

private:
    static std::atomic<bool>& isShort() {
        static std::atomic<bool> value{false};
        return value;
    }
};

struct CountingObserver : BridgeObserver {
    void changed(const char*, LinkState) noexcept override {}
    void trouble(const char* line) noexcept override {
        lines += std::string_view(line) == "nats: the disk of the outbox accepts no more messages"
                     ? 1
                     : 0;
    }
    std::atomic<int> lines{0};
};

NatsOptions optionsWithFolder(const NatsServer& server, const std::string& folder) {
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxFolder = folder;
    return options;
}

TEST(BridgeAllocationTest, AFullDiskIsToldWithoutMemory) {
    const SmallDisk disk(64);
    if (!disk) {
        GTEST_SKIP() << "mounting a file system needs more rights";
    }
    NatsServer server(NatsServer::withStreams);
    CountingObserver observer;
    NatsOptions options = optionsWithFolder(server, disk.path() + "/outbox");
    options.observer = &observer;
    Station sender(options);
    auto outlet = sender.bridge.outlet<Position>({"position", 1, Profile::durable});
    std::ofstream(disk.path() + "/filler") << std::string(40 * 1024, 'x');
    server.stop();
    {
        const Shortage shortage;
        OutletResult result = OutletResult::ok;
        while (result == OutletResult::ok) {
            result = outlet.send(Position{}, Priority::high);
        }
        EXPECT_EQ(result, OutletResult::notOnDisk);
    }
    EXPECT_EQ(observer.lines, 1);
    server.resume();
}

// A segment of the folder ends after 4 MiB.
TEST(BridgeAllocationTest, ASegmentOfTheFolderBeginsWithoutMemory) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    Station sender(optionsWithFolder(server, folder / "outbox"));
    auto outlet = sender.bridge.outlet<Picture>({"picture", 1, Profile::durable});
    const Picture picture;
    constexpr std::size_t perSegment = std::size_t{4} * 1024 * 1024 / sizeof(Picture) + 1;
    {
        const Shortage shortage;
        for (std::size_t i = 0; i < perSegment; ++i) {
            OutletResult result = OutletResult::congested;
            while (result == OutletResult::congested) {
                result = outlet.send(picture, Priority::high);
            }
            ASSERT_EQ(result, OutletResult::ok);
        }
    }
    EXPECT_TRUE(std::filesystem::exists(folder / "outbox/high/2.outbox"));
    EXPECT_TRUE(sender.bridge.close(patience));
}

}  // namespace
}  // namespace sluice::nats
