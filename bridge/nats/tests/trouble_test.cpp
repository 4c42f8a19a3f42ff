// Faults that the observer gets one line about, and that are counted.
#include "notes.hpp"
#include "peer.hpp"
#include "small_disk.hpp"
#include "station.hpp"
#include "streams_of_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

std::string runLogGuide(const std::string& url, const std::string& file);

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};

TEST(TroubleTest, EachKindOfRefusedMessageIsOneLine) {
    const NatsServer server;
    Notes notes;
    NatsOptions options = optionsFor(server);
    options.observer = &notes;
    Station receiver(options);
    receiver.bridge.importType<Position>({"position"});
    detail::Link stranger(optionsFor(server), "stranger");
    auto damaged = message(1);
    damaged.back() ^= 1;
    for (int round = 0; round < 2; ++round) {
        for (const auto& bytes :
             {std::vector<unsigned char>(500, 0xFF), std::vector<unsigned char>(), damaged,
              message(1, {"position", 2}), message(1, {"elsewhere"}),
              message(std::numeric_limits<std::uint64_t>::max())}) {
            ASSERT_TRUE(stranger.publish("position.medium", bytes.data(), bytes.size()));
        }
    }
    for (const std::uint64_t sequence : {1U, 3U, 5U}) {
        const auto bytes = message(sequence);
        ASSERT_TRUE(stranger.publish("position.medium", bytes.data(), bytes.size()));
    }
    receiver.consume(3);
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(notes.count("nats: position.medium: unreadable messages arrive"), 1);
    EXPECT_EQ(notes.count("nats: position.medium: messages of another version or type arrive"), 1);
    EXPECT_EQ(
        notes.count("nats: position.medium: messages are missing, the first ones of origin 42"), 1);
    EXPECT_EQ(notes.count("messages are missing"), 1);
    EXPECT_EQ(receiver.bridge.statistics().malformed, 8U);
    EXPECT_EQ(receiver.bridge.statistics().otherSchema, 4U);
    EXPECT_EQ(receiver.bridge.statistics().gaps, 2U);
}

/// A type that another program sends on the subject of positions. A position has none of its
/// fields.
struct Alarm {
    int robot = 0;
};
constexpr auto describe(wire::Type<Alarm>) {
    return wire::fields(wire::field("alarmed", &Alarm::robot));
}
using AlarmBus = Bus<Messages<Alarm, Position>, BridgedTraits>;

TEST(TroubleTest, AnotherTypeOnTheSubjectIsCountedAndNotDelivered) {
    const NatsServer server;
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    const auto bus = std::make_unique<AlarmBus>();
    NatsBridge<AlarmBus> other(*bus, optionsFor(server));
    auto outlet = other.outlet<Alarm>({"position"});
    EXPECT_EQ(outlet.send({7}), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().received == 1U; });
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.bridge.statistics().otherSchema, 1U);
    EXPECT_EQ(receiver.bridge.statistics().delivered, 0U);
}

TEST(TroubleTest, ASubjectOfTwoTypesIsOneLine) {
    const NatsServer server;
    const auto bus = std::make_unique<AlarmBus>();
    NatsBridge<AlarmBus> bridge(*bus, optionsFor(server));
    bridge.exportType<Position>({"position"});
    bridge.importType<Position>({"position"});
    const std::string line = "nats: the subject position has two types in this bridge";
    EXPECT_EQ(failureOf([&] { bridge.importType<Alarm>({"position"}); }), line);
    EXPECT_EQ(failureOf([&] { bridge.exportType<Alarm>({"position"}); }), line);
    EXPECT_EQ(failureOf([&] { (void)bridge.outlet<Alarm>({"position"}); }), line);
    EXPECT_EQ(failureOf([&] { bridge.importType<Alarm>({"alarm"}); }), "no failure");
}

TEST(TroubleTest, AWrongSubjectIsOneLine) {
    const NatsServer server;
    Station station(server);
    for (const std::string& subject :
         {std::string(), std::string("fleet.*"), std::string("fleet.>"),
          std::string("fleet..order"), std::string(".fleet"), std::string("fleet."),
          std::string("fleet order"), std::string("fl\"eet"), std::string("fl\\eet"),
          std::string("fleet\x01order"), std::string("fleet\x7F"), std::string("fl\xC3\xB6te"),
          std::string("fleet\0.order", 12)}) {
        const std::string line = "nats: '" + subject +
                                 "' is no subject: it is empty, has an empty part, or has a space, "
                                 "a control character, a sign beyond ASCII, or one of * > \" \\";
        // The text of an exception ends at a NUL.
        const std::string seen = line.c_str();
        EXPECT_EQ(failureOf([&] { station.bridge.exportType<Position>({subject}); }), seen);
        EXPECT_EQ(failureOf([&] { station.bridge.importType<Position>({subject}); }), seen);
    }
}

// The server sends heartbeats of this form. They have no reply subject.
TEST(TroubleTest, GarbageThatLooksLikeAHeartbeatIsCounted) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "receiver");
    options.durable.pullBatch = 1;
    Station receiver(options);
    receiver.bridge.importType<Position>(durable);
    natsConnection* stranger = nullptr;
    ASSERT_EQ(natsConnection_ConnectTo(&stranger, server.url().c_str()), NATS_OK);
    for (int i = 0; i < 5; ++i) {
        natsMsg* garbage = nullptr;
        ASSERT_EQ(natsMsg_Create(&garbage, "fleet.medium.position", nullptr, nullptr, 0), NATS_OK);
        ASSERT_EQ(natsMsgHeader_Set(garbage, "Status", "100"), NATS_OK);
        ASSERT_EQ(natsConnection_PublishMsg(stranger, garbage), NATS_OK);
        natsMsg_Destroy(garbage);
    }
    ASSERT_EQ(natsConnection_Flush(stranger), NATS_OK);
    natsConnection_Destroy(stranger);
    Station sender(durableOptionsFor(server, "sender"));
    EXPECT_EQ(sender.bridge.outlet<Position>(durable).send(Position{}), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().delivered == 1; });
    EXPECT_EQ(receiver.bridge.statistics().malformed, 5U);
}

// libnats would cut the text in which the server denies the subject.
TEST(TroubleTest, ALongSubjectIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Station station(durableOptionsFor(server, "receiver"));
    const std::string longest(200 - std::string("fleet.medium.").size(), 's');
    (void)station.bridge.outlet<Position>({longest, 1, Profile::durable});
    EXPECT_EQ(failureOf([&] {
                  (void)station.bridge.outlet<Position>({longest + "s", 1, Profile::durable});
              }),
              "nats: the subject " + longest +
                  "s has 201 bytes with stream and priority; it must have at most 200");
}

struct WaitingTraits : BridgedTraits {
    static constexpr std::array<Overflow, priorityCount> overflow{Overflow::block, Overflow::block,
                                                                  Overflow::block};
};
using WaitingBus = Bus<Messages<Position>, WaitingTraits>;

// The importer waits for room in its bus. Meanwhile 16 messages may wait for the importer.
TEST(TroubleTest, ASlowImporterIsCountedAndIsOneLine) {
    const NatsServer server;
    Notes notes;
    const auto bus = std::make_unique<WaitingBus>();
    NatsOptions options = optionsFor(server);
    options.importBacklog = 16;
    options.observer = &notes;
    NatsBridge<WaitingBus> bridge(*bus, options);
    std::uint64_t seen = 0;
    const Subscription handler = bus->subscribe<Position>([&](const Position&) { ++seen; });
    bridge.importType<Position>({"position"});
    detail::Link stranger(optionsFor(server), "stranger");
    const auto send = [&](std::uint64_t sequence) {
        const auto bytes = message(sequence);
        ASSERT_TRUE(stranger.publish("position.medium", bytes.data(), bytes.size()));
    };
    for (std::uint64_t sequence = 1; sequence <= 500; ++sequence) {
        send(sequence);
    }
    await([&] { return notes.has("nats: position.medium: messages arrive faster"); });
    const auto consumeUntil = [&](auto&& isOver) {
        while (!isOver()) {
            (void)bus->waitFor(10ms);
            (void)bus->process();
        }
    };
    consumeUntil([&] { return seen + bridge.statistics().overrun == 500U; });
    send(501);  // makes the gap visible
    consumeUntil([&] { return seen + bridge.statistics().overrun == 501U; });
    EXPECT_TRUE(bridge.close(patience));
    const NatsStatistics counts = bridge.statistics();
    EXPECT_EQ(counts.delivered, seen);
    EXPECT_EQ(counts.overrun, 501U - seen);
    EXPECT_EQ(counts.gaps, counts.overrun);
    EXPECT_EQ(notes.count("messages arrive faster"), 1);
}

// The peer's clock goes back by an hour on SIGUSR1. Waiting times do not depend on that clock.
TEST(TroubleTest, AReceiverGoesOnWhenItsClockIsSetBack) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const std::string handled = folder / "handled";
    Station sender(durableOptionsFor(server, "sender"));
    const Peer receiver({"receive", server.url(), handled});
    auto outlet = sender.bridge.outlet<Position>(durable);
    int next = 0;
    const auto sendUntil = [&](std::size_t count) {
        while (numbersIn(handled).size() < count) {
            next += outlet.send({next, 0.0}, Priority::high) == OutletResult::ok ? 1 : 0;
            std::this_thread::sleep_for(1ms);
        }
    };
    sendUntil(1);
    receiver.setClockBack();
    sendUntil(300);
    // The server has known the receiver's name since its first start, so the receiver gets all
    // numbers.
    const std::vector<int> numbers = numbersIn(handled);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        ASSERT_EQ(numbers[i], numbers[i - 1] + 1);
    }
}

// The server stores its streams on a disk of 8 MiB.
TEST(TroubleTest, AFullDiskOfTheServerFillsTheOutboxAndLosesNothing) {
    const SmallDisk disk(8 * 1024);
    if (!disk) {
        GTEST_SKIP() << "mounting a file system needs more rights";
    }
    NatsServer server("jetstream { store_dir: \"" + disk.path() +
                      "/streams\", sync_interval: always, max_file_store: 1GB }");
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    options.durable.outboxMessages = 100;
    Station sender(options);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    const std::string filler = disk.path() + "/filler";
    std::ofstream(filler) << std::string(8 * 1024 * 1024, 'x');
    auto outlet = sender.bridge.outlet<Position>(durable);
    int accepted = 0;
    while (!notes.has("does not answer") || sender.bridge.statistics().congested == 0) {
        accepted += outlet.send({accepted, 0.0}, Priority::high) == OutletResult::ok ? 1 : 0;
    }
    EXPECT_EQ(notes.count("nats: the server does not answer, and messages are sent again"), 1);
    // After a full disk, the server uses the stream again only after a restart.
    std::filesystem::remove(filler);
    server.kill();
    server.start();
    receiver.consume(static_cast<std::size_t>(accepted));
    EXPECT_TRUE(sender.bridge.close(patience));
    std::vector<int> expected(static_cast<std::size_t>(accepted));
    std::iota(expected.begin(), expected.end(), 0);
    // Sorted, because messages that the server refused were sent again after later ones.
    std::sort(receiver.seen.begin(), receiver.seen.end());
    EXPECT_EQ(receiver.seen, expected);
    EXPECT_EQ(sender.bridge.statistics().acknowledged, expected.size());
}

TEST(TroubleTest, AMessageThatIsTooLargeIsOneLine) {
    const NatsServer server(std::string("max_payload: 2000\n") + NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    Station sender(options);
    for (const NatsRoute& route :
         {NatsRoute{"picture"}, NatsRoute{"lasting", 1, Profile::durable}}) {
        auto outlet = sender.bridge.outlet<Picture>(route);
        EXPECT_EQ(outlet.send(Picture{}), OutletResult::tooLarge);
        EXPECT_EQ(outlet.send(Picture{}), OutletResult::tooLarge);
        EXPECT_EQ(notes.count("nats: " + route.subject + ": a message is larger than"), 1);
    }
    EXPECT_EQ(sender.bridge.statistics().unsent, 4U);
}

// The outbox accepts the message. Then the server restarts with a smaller limit.
TEST(TroubleTest, AMessageThatBecameTooLargeIsUndeliverableAndIsOneLine) {
    NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    Station sender(options);
    server.kill();
    await([&] { return sender.bridge.state(Priority::high) == LinkState::disconnected; });
    auto outlet = sender.bridge.outlet<Picture>({"picture", 1, Profile::durable});
    EXPECT_EQ(outlet.send(Picture{}, Priority::high), OutletResult::ok);
    EXPECT_EQ(outlet.send(Picture{}, Priority::high), OutletResult::ok);
    server.startWith(std::string("max_payload: 2000\n") + NatsServer::withStreams);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().undeliverable, 2U);
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 0U);
    EXPECT_EQ(notes.count("larger than the server accepts"), 1);
}

TEST(TroubleTest, AMessageTooLargeForItsStreamIsUndeliverableAndIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    Station sender(options);
    StreamsOfServer(server).limitMessages("fleet_high", 1000);
    auto outlet = sender.bridge.outlet<Picture>({"picture", 1, Profile::durable});
    EXPECT_EQ(outlet.confirm(Picture{}, Priority::high).get(), OutletResult::undeliverable);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().undeliverable, 1U);
    EXPECT_EQ(notes.count("nats: the server does not store messages"), 1);
}

TEST(TroubleTest, AStreamWithoutImporterIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    const std::string line = "nats: position: no importer has started yet";
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    Station sender(options);
    (void)sender.bridge.outlet<Position>(durable);
    EXPECT_EQ(notes.count(line), 1);
    Station other(durableOptionsFor(server, "other"));
    other.bridge.importType<Position>({"fleet.position", 1, Profile::durable});
    sender.bridge.exportType<Position>(durable);
    EXPECT_EQ(notes.count(line), 2);
    other.bridge.importType<Position>(durable);
    (void)sender.bridge.outlet<Position>(durable);
    EXPECT_EQ(notes.count(line), 2);
}

TEST(TroubleTest, WithoutTheRightToAskForImportersTheObserverHearsOfTheRightAlone) {
    const NatsServer server(
        std::string(NatsServer::withStreams) +
        "\nauthorization { users = [ { user: robot, password: right, "
        "permissions: { publish: { deny: \"$JS.API.CONSUMER.NAMES.>\" } } } ] }");
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.user = "robot";
    options.password = "right";
    options.observer = &notes;
    Station sender(options);
    (void)sender.bridge.outlet<Position>(durable);
    (void)sender.bridge.outlet<Position>({"other", 1, Profile::durable});
    EXPECT_EQ(notes.count("CONSUMER.NAMES"), 1);
    EXPECT_EQ(notes.count("no importer"), 0);
}

TEST(TroubleTest, ASecondProgramWithTheNameIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "receiver");
    Station first(options);
    first.bridge.importType<Position>(durable);
    Station sender(durableOptionsFor(server, "sender"));
    EXPECT_EQ(sender.bridge.outlet<Position>(durable).send({1, 0.0}, Priority::high),
              OutletResult::ok);
    first.consume(1);  // so the server has an order
    Notes notes;
    options.observer = &notes;
    Station second(options);
    second.bridge.importType<Position>(durable);
    EXPECT_EQ(notes.count("nats: position: another program, or a lost connection"), 1);
}

TEST(TroubleTest, AStreamThatIsMadeAgainIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "receiver");
    options.observer = &notes;
    Station receiver(options);
    receiver.bridge.importType<Position>(durable);
    StreamsOfServer(server).remove("fleet_high");
    Station sender(durableOptionsFor(server, "sender"));  // makes the stream again
    await([&] { return notes.has("nats: position: the stream or the consumer was deleted"); });
    EXPECT_EQ(sender.bridge.outlet<Position>(durable).send({1, 0.0}, Priority::high),
              OutletResult::ok);
    receiver.consume(1);
    EXPECT_EQ(notes.count("was deleted"), 1);
}

// Both bridges have the origin of the bus.
TEST(TroubleTest, TwoBridgesOfOneBusSendEachMessageToBothAndNoneBack) {
    const NatsServer server;
    const NatsServer second;
    NatsOptions options = optionsFor(server);
    options.origin = 7;
    Station middle(options);
    options.url = second.url();
    TestBridge other(*middle.bus, options);
    Station left(server);
    Station right(second);
    for (TestBridge* const bridge : {&middle.bridge, &other, &left.bridge, &right.bridge}) {
        bridge->exportType<Position>({"position"});
        bridge->importType<Position>({"position"});
    }
    middle.send(1);
    left.consume(1);
    right.consume(1);
    left.send(2);
    middle.consume(2);
    EXPECT_TRUE(other.close(patience));
    EXPECT_TRUE(right.bridge.close(patience));
    (void)right.bus->process();
    EXPECT_EQ(right.seen, (std::vector<int>{1}));
    EXPECT_EQ(other.statistics().notAgain, 1U);
    EXPECT_EQ(middle.seen, (std::vector<int>{1, 2}));
}

TEST(TroubleTest, TheStatesOfTheLinksAreMetrics) {
    NatsServer server;
    Station station(server);
    const auto states = [&] {
        std::string text;
        station.bridge.statistics().forEach([&](const std::string& name, std::uint64_t value) {
            text += name.rfind("link_", 0) == 0 ? name + " " + std::to_string(value) + " " : "";
        });
        return text;
    };
    EXPECT_EQ(states(), "link_high 0 link_rest 0 ");
    server.kill();
    await([&] { return states() == "link_high 1 link_rest 1 "; });
    (void)station.bridge.close(std::chrono::milliseconds(0));
    EXPECT_EQ(states(), "link_high 2 link_rest 2 ");
}

TEST(TroubleTest, AnObserverWritesIntoTheLog) {
    const NatsServer server;
    const TemporaryFolder folder;
    const std::string page = runLogGuide(server.url(), folder / "log");
    EXPECT_NE(page.find("\nnats_gaps 0\n"), std::string::npos) << page;
    const std::string log = contentOf(folder / "log");
    EXPECT_NE(log.find("the link 'high' is closed\n"), std::string::npos) << log;
    EXPECT_NE(log.find("the link 'rest' is closed\n"), std::string::npos) << log;
}

}  // namespace
}  // namespace sluice::nats
