#include "station.hpp"
#include "support/allocation_count.hpp"

#include <gtest/gtest.h>

namespace sluice::nats {
namespace {

using namespace test;

TEST(BridgeAllocationTest, ExportingAllocatesNothing) {
    const NatsServer server;
    Station sender(server);
    sender.bridge.exportType<Position>({"position"});
    sender.seen.reserve(200);
    sender.priorities.reserve(200);
    sender.send(0);
    const AllocationCount count;
    for (int i = 1; i <= 100; ++i) {
        sender.send(i);
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().sent, 101U);
}

// libnats copies a message by malloc, on the thread of the outbox.
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
        EXPECT_EQ(outlet.send(Position{i, 0.0}, Priority::high), SendResult::ok);
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 201U);
}

/// The first message allocates the entry of its origin, and so is not counted.
void expectNoAllocations(Station& sender, Station& receiver) {
    for (Station* station : {&sender, &receiver}) {
        station->seen.reserve(200);
        station->priorities.reserve(200);
    }
    sender.send(0);
    receiver.consume(1);
    // libnats makes a thread's own data by malloc: only operator new is counted here.
    const AllocationCount count;
    for (int i = 1; i <= 100; ++i) {
        sender.send(i);
        receiver.consume(static_cast<std::size_t>(i) + 1);
    }
    EXPECT_EQ(count.allocations(), 0U);
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

}  // namespace
}  // namespace sluice::nats
