#include "notes.hpp"
#include "own_stream.hpp"
#include "station.hpp"
#include "streams_of_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

bool runDurableGuide(const std::string& url);

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};
constexpr Priority priorities[] = {Priority::low, Priority::medium, Priority::high};

void expectBalanced(const NatsStatistics& s) {
    EXPECT_EQ(s.accepted, s.acknowledged + s.undeliverable + s.abandoned + s.held);
    EXPECT_EQ(s.received, s.delivered + s.refused + s.looped + s.malformed + s.otherSchema +
                              s.late + s.duplicates);
}

std::vector<int> numbers(int end) {
    std::vector<int> all(static_cast<std::size_t>(end));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

TEST(DurableTest, EachMessageArrivesOnceAndInOrder) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    sender.bridge.exportType<Position>(durable);
    for (int i = 0; i < 300; ++i) {
        sender.send(i, Priority::high);
    }
    receiver.consume(300);
    EXPECT_EQ(receiver.seen, numbers(300));
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_TRUE(receiver.bridge.close(patience));
    const NatsStatistics sent = sender.bridge.statistics();
    EXPECT_EQ(sent.sent, 300U);
    EXPECT_EQ(sent.acknowledged, 300U);
    EXPECT_EQ(sent.abandoned, 0U);
    const NatsStatistics got = receiver.bridge.statistics();
    EXPECT_EQ(got.delivered, 300U);
    EXPECT_EQ(got.gaps, 0U);
    EXPECT_EQ(got.duplicates, 0U);
    expectBalanced(sent);
    expectBalanced(got);
}

TEST(DurableTest, TwoImportersGetEachMessageAndNoneComesBack) {
    const NatsServer server(NatsServer::withStreams);
    Station one(durableOptionsFor(server, "one"));
    Station other(durableOptionsFor(server, "other"));
    Station third(durableOptionsFor(server, "third"));
    for (Station* station : {&one, &other, &third}) {
        station->bridge.importType<Position>(durable);
        station->bridge.exportType<Position>(durable);
    }
    for (int i = 0; i < 20; ++i) {
        one.send(i);
    }
    other.consume(20);
    third.consume(20);
    await([&] { return one.bridge.statistics().looped == 20U; });
    EXPECT_EQ(one.seen, numbers(20));
    EXPECT_EQ(other.seen, numbers(20));
    EXPECT_EQ(third.bridge.statistics().notAgain, 20U);
}

// The outbox has room for 20 messages: for low messages while it holds fewer than 12, for medium
// messages while it holds fewer than 16.
TEST(DurableTest, AFullOutboxRefusesLowMessagesFirst) {
    NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxMessages = 20;
    Station sender(options);
    auto outlet = sender.bridge.outlet<Position>(durable);
    server.kill();
    // Afterwards the thread of the outbox sleeps, and only a message can wake it.
    await([&] { return sender.bridge.state(Priority::high) == LinkState::disconnected; });
    std::vector<int> accepted;
    for (const Priority priority : priorities) {
        int count = 0;
        while (outlet.send(Position{count, 0.0}, priority) == OutletResult::ok) {
            ++count;
        }
        accepted.push_back(count);
        EXPECT_EQ(outlet.send(Position{}, priority), OutletResult::congested);
    }
    EXPECT_EQ(accepted, (std::vector<int>{12, 4, 4}));
    EXPECT_EQ(sender.bridge.statistics().congested, 6U);
    EXPECT_EQ(sender.bridge.statistics().held, 20U);

    server.start();
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 20U);
    EXPECT_EQ(outlet.send(Position{}, Priority::high), OutletResult::closed);
    expectBalanced(sender.bridge.statistics());
}

// If the outbox has no room, a message of the bus is lost, and the importers count a gap.
TEST(DurableTest, AMessageOfTheBusThatFindsNoPlaceIsAGap) {
    NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxMessages = 4;
    Station sender(options);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    sender.bridge.exportType<Position>(durable);
    server.kill();
    for (int i = 0; i < 6; ++i) {
        sender.send(i, Priority::high);
    }
    EXPECT_EQ(sender.bridge.statistics().congested, 2U);
    server.start();
    receiver.consume(4);
    await([&] { return sender.bridge.statistics().held == 0U; });
    sender.send(6, Priority::high);
    receiver.consume(5);
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.bridge.statistics().gaps, 2U);
}

// The bus of the receiver has room for 64 messages of all priorities. The server drops a message
// that has no import.
TEST(DurableTest, NamesAndSubjectsThatDifferInOneSignAreTwoImports) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    for (const char* const subject : {"arm.joint", "arm_joint", "arm-joint"}) {
        const NatsRoute route{subject, 1, Profile::durable};
        receiver.bridge.importType<Position>(route);
        sender.bridge.exportType<Position>(route);
    }
    Station other(durableOptionsFor(server, "rec.eiver"));
    Station third(durableOptionsFor(server, "rec_eiver"));
    Station longer(durableOptionsFor(server, "receiver-arm"));
    other.bridge.importType<Position>(durable);
    third.bridge.importType<Position>(durable);
    longer.bridge.importType<Position>({"joint", 1, Profile::durable});
    ASSERT_EQ(StreamsOfServer(server).importsOf("fleet_high"), 6);
    sender.send(7, Priority::high);
    receiver.consume(3);
    EXPECT_EQ(receiver.seen, std::vector<int>({7, 7, 7}));
}

TEST(DurableTest, AFullBusDelaysMessagesAndLosesNone) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    sender.bridge.exportType<Position>(durable);
    for (int i = 0; i < 200; ++i) {
        sender.send(i);
    }
    await([&] {
        return receiver.bridge.statistics().delivered == TestBus::roomOf(Priority::medium);
    });
    receiver.consume(200);
    EXPECT_EQ(receiver.seen, numbers(200));
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
}

// The first messages of a sender may be sent again, and arrive after later ones.
TEST(DurableTest, AMessageThatIsDeliveredTwiceIsDroppedAndCounted) {
    const NatsServer server(NatsServer::withStreams);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    detail::Link stranger(optionsFor(server), "stranger");
    for (const std::uint64_t sequence : {2U, 5U, 5U, 3U, 2U, 3U, 1U, 6U, 1U}) {
        const auto bytes = message(sequence, durable);
        ASSERT_TRUE(stranger.publish("fleet.medium.position", bytes.data(), bytes.size()));
    }
    receiver.consume(5);
    await([&] { return receiver.bridge.statistics().duplicates == 4U; });
    EXPECT_EQ(receiver.seen, (std::vector<int>{2, 5, 3, 1, 6}));
    EXPECT_EQ(receiver.bridge.statistics().gaps, 1U);
    expectBalanced(receiver.bridge.statistics());
}

TEST(DurableTest, GarbageIsRefusedOnceAndForEver) {
    const NatsServer server(NatsServer::withStreams);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    detail::Link stranger(optionsFor(server), "stranger");
    const std::vector<unsigned char> garbage(500, 0xFF);
    ASSERT_TRUE(stranger.publish("fleet.medium.position", garbage.data(), garbage.size()));
    ASSERT_TRUE(stranger.publish("fleet.medium.position", nullptr, 0));
    NatsRoute later = durable;
    later.schemaVersion = 2;
    for (const auto& bytes : {message(1, later), message(2, durable)}) {
        ASSERT_TRUE(stranger.publish("fleet.medium.position", bytes.data(), bytes.size()));
    }
    receiver.consume(1);
    // The stream drops a message when its importer has acknowledged it or has refused it for ever.
    await([&] { return messagesIn(server, "fleet_rest") == 0; });
    EXPECT_EQ(receiver.bridge.statistics().malformed, 2U);
    EXPECT_EQ(receiver.bridge.statistics().otherSchema, 1U);
    expectBalanced(receiver.bridge.statistics());
}

// Both messages use the one slot of the window.
TEST(DurableTest, TheSecondAnswerToAMessageDoesNotFreeTheNextOne) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.inFlight = 1;
    options.durable.ackWait = 50ms;
    Station sender(options);
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

TEST(DurableTest, FlushIsFalseUntilTheServerHasStoredTheMessages) {
    const NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    OwnStream stream(server);
    auto outlet = sender.bridge.outlet<Position>(durable);
    EXPECT_EQ(outlet.send(Position{}, Priority::high), OutletResult::ok);
    const OwnStream::Message message = stream.next();
    EXPECT_FALSE(sender.bridge.flush(10ms));
    stream.answer(message.reply);
    EXPECT_TRUE(sender.bridge.flush(patience));
}

TEST(DurableTest, AConfirmationIsReadyWhenTheServerHasStoredTheMessage) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.ackWait = 1h;
    options.durable.outboxMessages = 4;
    options.durable.inFlight = 1;
    Station sender(options);
    OwnStream stream(server);
    auto outlet = sender.bridge.outlet<Position>(durable);
    auto stored = outlet.confirm(Position{}, Priority::high);
    const OwnStream::Message message = stream.next();
    EXPECT_EQ(stored.wait_for(0s), std::future_status::timeout);
    stream.answer(message.reply);
    EXPECT_EQ(stored.get(), OutletResult::ok);

    auto sent = outlet.confirm(Position{}, Priority::high);
    auto waiting = outlet.confirm(Position{}, Priority::high);
    EXPECT_EQ(outlet.confirm(Position{}, Priority::low).get(), OutletResult::congested);
    (void)stream.next();
    EXPECT_FALSE(sender.bridge.close(1ms));
    EXPECT_EQ(sent.get(), OutletResult::closed);
    EXPECT_EQ(waiting.get(), OutletResult::closed);
    EXPECT_EQ(outlet.confirm(Position{}).get(), OutletResult::closed);
    EXPECT_EQ(sender.bridge.statistics().abandoned, 2U);
}

TEST(DurableTest, AConfirmationOfACoreRouteIsOneLine) {
    const NatsServer server;
    Station sender(server);
    auto outlet = sender.bridge.outlet<Position>({"position"});
    EXPECT_EQ(failureOf([&] { (void)outlet.confirm(Position{}); }),
              "nats: position.medium: confirm needs the durable profile, and the route has core");
}

// The outbox is never empty: a message is answered after the next one has been sent.
TEST(DurableTest, FlushDoesNotWaitForLaterMessages) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.ackWait = 1h;
    Station sender(options);
    OwnStream stream(server);
    auto outlet = sender.bridge.outlet<Position>(durable);
    EXPECT_EQ(outlet.send(Position{}, Priority::high), OutletResult::ok);
    OwnStream::Message last = stream.next();
    auto flushed =
        std::async(std::launch::async, [&] { return sender.bridge.flush(patience / 4); });
    while (flushed.wait_for(1ms) != std::future_status::ready) {
        ASSERT_EQ(outlet.send(Position{}, Priority::high), OutletResult::ok);
        stream.answer(std::exchange(last, stream.next()).reply);
    }
    EXPECT_TRUE(flushed.get());
}

// A stream of 1,000 bytes refuses messages. Its importer acknowledges none, because its bus is
// full.
TEST(DurableTest, AFullStreamFillsTheOutboxAndIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.streamBytes = 1000;
    options.durable.outboxMessages = 10;
    options.observer = &notes;
    Station sender(options);
    NatsOptions other = durableOptionsFor(server, "receiver");
    other.durable.streamBytes = 1000;
    Station receiver(other);
    receiver.bridge.importType<Position>(durable);
    while (receiver.bus->publish(Position{}, Priority::high) == SendResult::ok) {
    }
    auto outlet = sender.bridge.outlet<Position>(durable);
    int accepted = 0;
    while (!notes.has("maximum bytes exceeded")) {
        accepted +=
            outlet.send(Position{accepted, 0.0}, Priority::high) == OutletResult::ok ? 1 : 0;
    }
    receiver.seen.clear();
    receiver.consume(receiver.bus->sizeApprox() + static_cast<std::size_t>(accepted));
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, static_cast<std::uint64_t>(accepted));
    EXPECT_EQ(receiver.bridge.statistics().delivered, static_cast<std::uint64_t>(accepted));
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
}

std::string failureOfImport(const NatsOptions& options, const NatsRoute& route = durable) {
    return failureOf([&] {
        TestBus bus;
        TestBridge bridge(bus, options);
        bridge.importType<Position>(route);
    });
}

TEST(DurableTest, WrongSettingsAreOneLine) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "receiver");
    options.durable.name.clear();
    EXPECT_EQ(failureOfImport(options),
              "nats: durable.name is empty, but position has a durable import");
    EXPECT_EQ(failureOfImport(optionsFor(server)),
              "nats: durable.stream is empty, but position has the durable profile");
}

TEST(DurableTest, AServerWithoutStreamsIsOneLine) {
    const NatsServer server;
    const std::string failure = failureOfImport(durableOptionsFor(server, "receiver"));
    EXPECT_EQ(failure, "nats: stream fleet_rest: the server has no JetStream; start it with -js");
}

TEST(DurableTest, OtherSettingsOfTheStreamAreOneLine) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "receiver");
    EXPECT_EQ(failureOfImport(options), "no failure");
    options.durable.streamBytes /= 2;
    EXPECT_NE(failureOfImport(options).find("nats: stream fleet_rest: "), std::string::npos)
        << failureOfImport(options);
}

TEST(DurableTest, ASubjectThatBelongsToAnotherStreamIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    addStream(server, "foreign", "fleet.high.*");
    const std::string failure = failureOfImport(durableOptionsFor(server, "receiver"));
    EXPECT_EQ(failure.find("nats: stream fleet_high: "), 0U) << failure;
    EXPECT_NE(failure.find("overlap"), std::string::npos) << failure;
    EXPECT_EQ(failure.find('\n'), std::string::npos) << failure;
}

// Each start of a program counts from 1 again. Messages of a second start with the same origin must
// not count as duplicates.
TEST(DurableTest, ASenderThatRestartsWithItsOriginIsHeard) {
    const NatsServer server(NatsServer::withStreams);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    receiver.bridge.importType<Position>({"position"});
    NatsOptions options = durableOptionsFor(server, "sender");
    options.origin = 7;
    for (const NatsRoute& route : {durable, NatsRoute{"position"}}) {
        for (int start = 0; start < 3; ++start) {
            Station sender(options);
            sender.bridge.exportType<Position>(route);
            sender.send(start);
            EXPECT_TRUE(sender.bridge.close(patience));
            receiver.consume(receiver.seen.size() + 1);
        }
    }
    EXPECT_EQ(receiver.seen, (std::vector<int>{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(receiver.bridge.statistics().duplicates, 0U);
    EXPECT_EQ(receiver.bridge.statistics().late, 0U);
}

TEST(DurableTest, TheGuideWorks) {
    const NatsServer server(NatsServer::withStreams);
    EXPECT_TRUE(runDurableGuide(server.url()));
}

}  // namespace
}  // namespace sluice::nats
