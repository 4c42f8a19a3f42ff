#include "own_stream.hpp"
#include "station.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

NatsOptions oneInFlight(const NatsServer& server) {
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.inFlight = 1;
    options.durable.ackWait = 50ms;
    return options;
}

const NatsRoute durable{"position", 1, Profile::durable};

TEST(LateAnswerTest, AnAnswerToAnEarlierTryCounts) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(oneInFlight(server));
    OwnStream stream(server);
    auto outlet = sender.bridge.outlet<Position>(durable);
    ASSERT_EQ(outlet.send(Position{1, 0.0}, Priority::high), OutletResult::ok);
    const OwnStream::Message first = stream.next();
    EXPECT_EQ(stream.next().id, first.id);
    stream.answer(first.reply);
    await([&] { return sender.bridge.statistics().acknowledged == 1; });
}

// Both messages use the one slot of the window.
TEST(LateAnswerTest, TheSecondAnswerToAMessageDoesNotFreeTheNextOne) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(oneInFlight(server));
    OwnStream stream(server);
    auto outlet = sender.bridge.outlet<Position>(durable);
    ASSERT_EQ(outlet.send(Position{1, 0.0}, Priority::high), OutletResult::ok);
    const OwnStream::Message one = stream.next();
    OwnStream::Message again = stream.next();
    ASSERT_EQ(again.id, one.id);
    ASSERT_EQ(outlet.send(Position{2, 0.0}, Priority::high), OutletResult::ok);
    stream.answer(one.reply);
    OwnStream::Message two = stream.next();
    while (two.id == one.id) {
        again = two;
        two = stream.next();
    }
    // Now each answer to the first message is late. The second message is sent again, so no late
    // answer has freed it.
    stream.answer(one.reply);
    stream.answer(again.reply);
    EXPECT_EQ(stream.next().id, two.id);
    EXPECT_EQ(stream.next().id, two.id);
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 1U);
    stream.answer(two.reply);
    await([&] { return sender.bridge.statistics().acknowledged == 2; });
}

}  // namespace
}  // namespace sluice::nats
