#include "../src/link_impl.hpp"
#include "peer.hpp"
#include "station.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

bool runDistributedGuide(const std::string& url);

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

void expectBalanced(const NatsStatistics& s) {
    EXPECT_EQ(s.received, s.delivered + s.refused + s.looped + s.malformed + s.otherSchema +
                              s.late + s.duplicates);
}

void awaitState(const TestBridge& bridge, LinkState state) {
    await([&] {
        return bridge.state(Priority::high) == state && bridge.state(Priority::low) == state;
    });
}

class ProfileTest : public testing::TestWithParam<Profile> {};

INSTANTIATE_TEST_SUITE_P(Profiles, ProfileTest, testing::Values(Profile::core, Profile::durable),
                         [](const auto& each) {
                             return each.param == Profile::core ? "Core" : "Durable";
                         });

TEST_P(ProfileTest, MessagesKeepTheirPriorityAndTheirOrder) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    const NatsRoute route{"position", 1, GetParam()};
    receiver.bridge.importType<Position>(route);
    sender.bridge.exportType<Position>(route);
    for (int i = 0; i < 10; ++i) {
        sender.send(i, Priority::high);
    }
    receiver.consume(10);
    EXPECT_EQ(receiver.seen, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    sender.send(10, Priority::low);
    receiver.consume(11);
    sender.send(11, Priority::medium);
    receiver.consume(12);
    EXPECT_EQ(receiver.priorities[0], Priority::high);
    EXPECT_EQ(receiver.priorities[10], Priority::low);
    EXPECT_EQ(receiver.priorities[11], Priority::medium);

    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().sent, 12U);
    EXPECT_EQ(receiver.bridge.statistics().delivered, 12U);
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
    expectBalanced(receiver.bridge.statistics());
    EXPECT_EQ(receiver.bridge.state(Priority::high), LinkState::closed);
}

// They share the sequences of the route: two messages with one sequence would be one message for
// the server and for importers.
TEST_P(ProfileTest, TwoOutletsAndAnExportLoseNothing) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    const NatsRoute route{"position", 1, GetParam()};
    receiver.bridge.importType<Position>(route);
    sender.bridge.exportType<Position>(route);
    auto first = sender.bridge.outlet<Position>(route);
    auto second = sender.bridge.outlet<Position>(route);
    for (int i = 0; i < 12; i += 3) {
        ASSERT_EQ(first.send(Position{i, 0.5}, Priority::high), OutletResult::ok);
        ASSERT_EQ(second.send(Position{i + 1, 0.5}, Priority::high), OutletResult::ok);
        sender.send(i + 2, Priority::high);
    }
    EXPECT_TRUE(sender.bridge.close(patience));
    receiver.consume(12);
    EXPECT_EQ(std::set<int>(receiver.seen.begin(), receiver.seen.end()).size(), 12U);
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
    EXPECT_EQ(receiver.bridge.statistics().duplicates, 0U);
}

// The type in the envelope is a hash of 32 bits. These two subjects have the same one.
TEST(NatsBridgeTest, TwoSubjectsWithOneNumberAreOneLine) {
    const NatsServer server;
    Station sender(server);
    (void)sender.bridge.outlet<Position>({"type.16718"});
    EXPECT_EQ(
        failureOf([&] { (void)sender.bridge.outlet<Position>({"type.632262"}); }),
        "nats: the subjects type.16718 and type.632262 have the same type number: rename one, "
        "or raise its schemaVersion");
}

// The setting of libnats that writes each message to the socket alone.
TEST(NatsBridgeTest, WithSendAtOnceNoMessageWaitsInLibnats) {
    const NatsServer server;
    NatsOptions options = optionsFor(server);
    options.sendAtOnce = true;
    detail::Link link(options, "link");
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(natsConnection_PublishString(link.impl().connection, "byte", "7"), NATS_OK);
        ASSERT_EQ(natsConnection_Buffered(link.impl().connection), 0);
    }
}

// The server allows two subscriptions for each connection, and an import needs three.
TEST(NatsBridgeTest, HighMessagesHaveAConnectionOfTheirOwn) {
    const NatsServer server("max_subscriptions: 2");
    Station sender(server);
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    sender.bridge.exportType<Position>({"position"});
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        sender.send(0, priority);
    }
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.bridge.statistics().delivered, 3U);
}

TEST(NatsBridgeTest, MissingSequencesAreGapsAndOldOnesAreLate) {
    const NatsServer server;
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    detail::Link stranger(optionsFor(server), "stranger");
    for (const std::uint64_t sequence : {3U, 4U, 7U, 5U, 7U, 8U}) {
        const auto bytes = message(sequence);
        ASSERT_TRUE(stranger.publish("position.medium", bytes.data(), bytes.size()));
    }
    receiver.consume(4);
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.seen, (std::vector<int>{3, 4, 7, 8}));
    EXPECT_EQ(receiver.bridge.statistics().gaps, 2U);
    EXPECT_EQ(receiver.bridge.statistics().late, 2U);
    expectBalanced(receiver.bridge.statistics());
}

TEST(NatsBridgeTest, OriginsBeyondTheLimitAreDeliveredAndCounted) {
    const NatsServer server;
    TestBus bus;
    NatsOptions options = optionsFor(server);
    options.maxOrigins = 1;
    TestBridge bridge(bus, options);
    bridge.importType<Position>({"position"});
    detail::Link stranger(optionsFor(server), "stranger");
    for (const auto& bytes : {message(1, {"position"}, 42), message(1, {"position"}, 43),
                              message(9, {"position"}, 43), message(3, {"position"}, 42)}) {
        ASSERT_TRUE(stranger.publish("position.medium", bytes.data(), bytes.size()));
    }
    ASSERT_TRUE(stranger.flush(patience));
    EXPECT_TRUE(bridge.close(patience));
    EXPECT_EQ(bridge.statistics().delivered, 4U);
    EXPECT_EQ(bridge.statistics().untracked, 2U);
    EXPECT_EQ(bridge.statistics().gaps, 1U);
}

TEST(NatsBridgeTest, AFullBusRefusesAndTheBridgeCounts) {
    const NatsServer server;
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    detail::Link stranger(optionsFor(server), "stranger");
    const std::size_t room = TestBus::roomOf(Priority::medium);
    for (std::uint64_t sequence = 1; sequence <= room + 5; ++sequence) {
        const auto bytes = message(sequence);
        ASSERT_TRUE(stranger.publish("position.medium", bytes.data(), bytes.size()));
    }
    ASSERT_TRUE(stranger.flush(patience));
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.bridge.statistics().delivered, room);
    EXPECT_EQ(receiver.bridge.statistics().refused, 5U);
    expectBalanced(receiver.bridge.statistics());
}

/// A Position of a later version of the program.
struct LaterPosition {
    std::string place = "nowhere";
    int robot = 0;
    double x = 0;
};
constexpr auto describe(wire::Type<LaterPosition>) {
    return wire::fields(wire::field("place", &LaterPosition::place),
                        wire::field("robot", &LaterPosition::robot),
                        wire::field("x", &LaterPosition::x));
}
struct LaterTraits : BridgedTraits {};
using LaterBus = Bus<Messages<LaterPosition>, LaterTraits>;

TEST(NatsBridgeTest, ProgramsOfDifferentVersionsUnderstandEachOther) {
    const NatsServer server;
    Station old(server);
    LaterBus bus;
    NatsBridge<LaterBus> later(bus, optionsFor(server));
    std::vector<LaterPosition> seen;
    const Subscription handler = bus.subscribe<LaterPosition>(
        [&](const LaterPosition& position) { seen.push_back(position); });
    old.bridge.importType<Position>({"to.old"});
    later.importType<LaterPosition>({"to.later"});
    old.bridge.exportType<Position>({"to.later"});
    later.exportType<LaterPosition>({"to.old"});

    old.send(1);
    while (seen.empty()) {
        (void)bus.waitFor(10ms);
        (void)bus.process();
    }
    EXPECT_EQ(seen[0].robot, 1);
    EXPECT_EQ(seen[0].place, "nowhere");
    ASSERT_EQ(bus.publish(LaterPosition{"a longer name of a place", 2, 0.5}), SendResult::ok);
    (void)bus.process();
    old.consume(2);
    EXPECT_EQ(old.seen, (std::vector<int>{1, 2}));
    EXPECT_TRUE(later.close(patience));
}

TEST(NatsBridgeTest, FlushWaitsForTheServer) {
    NatsServer server;
    Station sender(server);
    sender.bridge.exportType<Position>({"position"});
    sender.send(1);
    EXPECT_TRUE(sender.bridge.flush(patience));
    server.stop();
    sender.send(2, Priority::high);
    EXPECT_FALSE(sender.bridge.flush(50ms));
    server.resume();
    EXPECT_TRUE(sender.bridge.flush(patience));
}

TEST(NatsBridgeTest, AWrongPasswordIsOneLineThatTellsNoPassword) {
    const NatsServer server("authorization { user: robot, password: right }");
    NatsOptions options = optionsFor(server);
    options.user = "robot";
    options.password = "right";
    EXPECT_EQ(failureOf(options), "no failure");
    options.password = "secret";
    const std::string failure = failureOf(options);
    EXPECT_EQ(failure.find("nats: cannot connect to "), 0U) << failure;
    options.user.clear();
    options.url.insert(std::string("nats://").size(), "robot:secret@");
    const std::string ofUrl = failureOf(options);
    EXPECT_EQ(ofUrl.find("nats: cannot connect to "), 0U) << ofUrl;
    for (const std::string& text : {failure, ofUrl}) {
        EXPECT_EQ(text.find("secret"), std::string::npos) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
}

// Ten rounds: messages that are published without a server are sent later, or lost and counted.
TEST(NatsBridgeTest, AKilledServerLosesNothingUncounted) {
    NatsServer server;
    Station sender(server);
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    sender.bridge.exportType<Position>({"position"});
    int next = 0;
    sender.send(next++);
    receiver.consume(1);
    for (int round = 0; round < 10; ++round) {
        server.kill();
        awaitState(sender.bridge, LinkState::disconnected);
        awaitState(receiver.bridge, LinkState::disconnected);
        sender.send(next++);
        server.start();
        awaitState(receiver.bridge, LinkState::connected);
        awaitState(sender.bridge, LinkState::connected);
        // The receiver subscribes again before it says that it is connected, but the server may
        // read that later: send until a message arrives.
        const std::size_t before = receiver.seen.size();
        while (receiver.seen.size() == before) {
            sender.send(next++);
            (void)receiver.bus->waitFor(10ms);
            (void)receiver.bus->process();
        }
    }
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_TRUE(receiver.bridge.close(patience));
    (void)receiver.bus->process();
    const NatsStatistics sent = sender.bridge.statistics();
    const NatsStatistics got = receiver.bridge.statistics();
    EXPECT_EQ(sent.sent + sent.unsent, static_cast<std::uint64_t>(next));
    // Each message up to the last one that arrived was delivered or is a gap.
    EXPECT_EQ(got.delivered + got.gaps, static_cast<std::uint64_t>(receiver.seen.back()) + 1);
    EXPECT_EQ(got.late, 0U);
    expectBalanced(got);
}

// Ten rounds. A killed sender may lose its last messages. The messages that arrive have no gap
// between them.
TEST(NatsBridgeTest, AKilledSenderLeavesNoGap) {
    const NatsServer server;
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    for (std::size_t round = 1; round <= 10; ++round) {
        const std::size_t before = receiver.seen.size();
        const Peer peer({"core", server.url()});
        receiver.consume(before + 7 * round);
    }
    while (receiver.bus->sizeApprox() != 0) {
        (void)receiver.bus->process();
    }
    EXPECT_TRUE(receiver.bridge.close(patience));
    const NatsStatistics got = receiver.bridge.statistics();
    EXPECT_EQ(got.gaps, 0U);
    EXPECT_EQ(got.late, 0U);
    EXPECT_EQ(got.malformed, 0U);
    expectBalanced(got);
}

TEST(NatsBridgeTest, ClosingToADeadServerSaysSo) {
    NatsServer server;
    Station station(server);
    station.bridge.importType<Position>({"position"});
    server.kill();
    awaitState(station.bridge, LinkState::disconnected);
    EXPECT_FALSE(station.bridge.close(10ms));
    EXPECT_EQ(station.bridge.state(Priority::high), LinkState::closed);
}

TEST(NatsBridgeTest, ClosingToAStoppedServerSaysSo) {
    for (int round = 0; round < 10; ++round) {
        const NatsServer server;
        Station station(server);
        station.bridge.exportType<Position>({"position"});
        server.stop();
        station.send(1);
        EXPECT_FALSE(station.bridge.close(50ms));
        EXPECT_EQ(station.bridge.state(Priority::low), LinkState::closed);
    }
}

TEST(NatsBridgeTest, CloseMayWaitWithoutEnd) {
    const NatsServer server;
    Station sender(server);
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    sender.bridge.exportType<Position>({"position"});
    sender.send(1);
    EXPECT_TRUE(sender.bridge.flush(std::chrono::milliseconds::max()));
    EXPECT_TRUE(sender.bridge.close(std::chrono::milliseconds::max()));
    EXPECT_TRUE(receiver.bridge.close(std::chrono::milliseconds::max()));
    receiver.consume(1);
}

TEST(NatsBridgeTest, TheGuideWorks) {
    const NatsServer server;
    EXPECT_TRUE(runDistributedGuide(server.url()));
}

}  // namespace
}  // namespace sluice::nats
