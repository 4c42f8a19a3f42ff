#include "notes.hpp"
#include "own_stream.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

// Subjects that the server does not let a bridge publish.

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// Settings of a server whose user "robot" may not publish these subjects: "\"a\", \"b\"".
std::string without(const std::string& subjects) {
    return "max_payload: 1MB\nauthorization { users = [ { user: robot, password: right, "
           "permissions: { publish: { deny: [" +
           subjects + "] } } }, { user: other, password: right } ] }\n" + NatsServer::withStreams;
}

NatsOptions robotOf(const NatsServer& server) {
    NatsOptions options = durableOptionsFor(server, "sender");
    options.user = "robot";
    options.password = "right";
    return options;
}

const NatsRoute secretRoute{"secret", 1, Profile::durable};
const NatsRoute positionRoute{"position", 1, Profile::durable};

// The window has one slot, so a message without an answer would hold back all later ones.
TEST(DeniedSubjectTest, ItsMessageIsUndeliverableAndHoldsBackNoOther) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server(without("\"fleet.high.secret\""));
    Notes notes;
    NatsOptions options = robotOf(server);
    options.durable.inFlight = 1;
    options.observer = &notes;
    Station sender(options);
    auto secret = sender.bridge.outlet<Position>(secretRoute);
    auto allowed = sender.bridge.outlet<Position>(positionRoute);
    EXPECT_EQ(secret.send(Position{1, 0.5}, Priority::high), OutletResult::ok);
    EXPECT_EQ(allowed.send(Position{2, 0.5}, Priority::high), OutletResult::ok);
    EXPECT_TRUE(sender.bridge.close(60s));
    const NatsStatistics sent = sender.bridge.statistics();
    EXPECT_EQ(sent.undeliverable, 1U);
    EXPECT_EQ(sent.acknowledged, 1U);
    EXPECT_TRUE(notes.has("fleet.high.secret"));
}

// The server denies each message. It denies the last one after all others.
TEST(DeniedSubjectTest, ManyDenialsAreOneLine) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server(without("\"one.medium\", \"two.medium\""));
    Notes notes;
    NatsOptions options = robotOf(server);
    options.observer = &notes;
    Station sender(options);
    auto one = sender.bridge.outlet<Position>({"one"});
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(one.send(Position{}), OutletResult::ok);
    }
    EXPECT_EQ(sender.bridge.outlet<Position>({"two"}).send(Position{}), OutletResult::ok);
    await([&] { return notes.has("two.medium"); });
    EXPECT_EQ(notes.count("one.medium"), 1);
}

// Both denials arrive together, before any message is sent again.
TEST(DeniedSubjectTest, EachOfTwoIsGivenUp) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server(without("\"fleet.high.one\", \"fleet.high.two\""));
    NatsOptions options = robotOf(server);
    options.durable.inFlight = 2;
    options.durable.ackWait = 1h;
    for (int round = 0; round < 10; ++round) {
        Station sender(options);
        for (const char* const subject : {"one", "two", "position", "position"}) {
            auto outlet = sender.bridge.outlet<Position>({subject, 1, Profile::durable});
            EXPECT_EQ(outlet.send(Position{}, Priority::high), OutletResult::ok);
        }
        EXPECT_TRUE(sender.bridge.close(60s));
        EXPECT_EQ(sender.bridge.statistics().undeliverable, 2U);
    }
}

// The first and the third message use the same slot of the window.
TEST(DeniedSubjectTest, AnAnswerAfterTheDenialConfirmsNoOtherMessage) {
    const Watchdog watchdog{[](std::FILE*) {}};
    NatsServer server(without(""));
    NatsOptions options = robotOf(server);
    options.durable.inFlight = 2;
    options.durable.ackWait = 2s;
    Station sender(options);
    OwnStream stream(server, "other:right@");
    auto secret = sender.bridge.outlet<Position>(secretRoute);
    auto allowed = sender.bridge.outlet<Position>(positionRoute);
    ASSERT_EQ(secret.send(Position{1, 0.5}, Priority::high), OutletResult::ok);
    const OwnStream::Message first = stream.next();
    server.reload(without("\"fleet.high.secret\""));
    ASSERT_EQ(secret.send(Position{2, 0.5}, Priority::high), OutletResult::ok);
    await([&] { return sender.bridge.statistics().undeliverable == 2; });
    ASSERT_EQ(allowed.send(Position{3, 0.5}, Priority::high), OutletResult::ok);
    const OwnStream::Message third = stream.next();
    stream.answer(first.reply);
    // The third message is sent again, so the answer to the first one has not freed it.
    EXPECT_EQ(stream.next().id, third.id);
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 0U);
    stream.answer(third.reply);
    await([&] { return sender.bridge.statistics().acknowledged == 1; });
}

}  // namespace
}  // namespace sluice::nats
