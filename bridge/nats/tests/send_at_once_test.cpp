#include "../src/link_impl.hpp"
#include "station.hpp"

#include <gtest/gtest.h>

#include <nats/nats.h>

#include <vector>

namespace sluice::nats {
namespace {

using namespace test;

TEST(SendAtOnceTest, NoMessageWaitsInTheLink) {
    const NatsServer server;
    NatsOptions options = optionsFor(server);
    options.sendAtOnce = true;
    detail::Link link(options, "link");
    const unsigned char byte = 7;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(natsConnection_Publish(link.impl().connection, "byte", &byte, 1), NATS_OK);
        ASSERT_EQ(natsConnection_Buffered(link.impl().connection), 0);
    }
}

TEST(SendAtOnceTest, MessagesPassTheBridgeInOrder) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.sendAtOnce = true;
    Station sender(options);
    Station receiver(durableOptionsFor(server, "receiver"));
    for (const NatsRoute& route : {NatsRoute{"core"}, NatsRoute{"stored", 1, Profile::durable}}) {
        receiver.seen.clear();
        receiver.bridge.importType<Position>(route);
        auto outlet = sender.bridge.outlet<Position>(route);
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(outlet.send({i, 0.0}, Priority::high), OutletResult::ok);
        }
        receiver.consume(3);
        EXPECT_EQ(receiver.seen, std::vector<int>({0, 1, 2}));
    }
}

}  // namespace
}  // namespace sluice::nats
