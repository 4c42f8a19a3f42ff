#include "station.hpp"
#include "streams_of_server.hpp"

#include <sluice/bridge/nats/detail/importer.hpp>

#include <gtest/gtest.h>
#include <nats/nats.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::nats {
namespace {

using namespace test;

const NatsRoute route{"position", 1, Profile::durable, true};

/// A receiver that ends before its handlers run.
class UntilHandledTest : public ::testing::Test {
protected:
    UntilHandledTest() { receiver_->bridge.importType<Position>(route); }

    void publish(std::uint64_t sequence, const NatsRoute& on = route) {
        const auto bytes = message(sequence, on);
        const std::string subject = "fleet.medium." + on.subject;
        ASSERT_TRUE(stranger_.publish(subject.c_str(), bytes.data(), bytes.size()));
    }
    [[nodiscard]] NatsStatistics statistics() const { return receiver_->bridge.statistics(); }
    /// Waits until the server has all answers of the receiver.
    void endReceiver() {
        EXPECT_TRUE(receiver_->bridge.close(patience));
        receiver_.reset();
    }
    std::vector<int> seenByTheNextReceiver(std::size_t count) {
        Station next(durableOptionsFor(server_, "receiver"));
        next.bridge.importType<Position>(route);
        next.consume(count);
        return next.seen;
    }

    const NatsServer server_{NatsServer::withStreams};
    std::unique_ptr<Station> receiver_ =
        std::make_unique<Station>(durableOptionsFor(server_, "receiver"));
    detail::Link stranger_{optionsFor(server_), "stranger"};
};

TEST_F(UntilHandledTest, ADuplicateDoesNotAcknowledgeAMessageThatIsNotHandled) {
    publish(7);
    await([&] { return statistics().duplicates != 0; });  // after redeliverAfter
    endReceiver();
    ASSERT_EQ(messagesIn(server_, "fleet_rest"), 1U);
    EXPECT_EQ(seenByTheNextReceiver(1), std::vector<int>{7});
}

// The sender has sent the message twice, and the server had forgotten the first copy.
TEST_F(UntilHandledTest, ADuplicateIsAcknowledgedWhenTheFirstCopyIsHandled) {
    publish(7);
    publish(7);
    await([&] { return statistics().duplicates != 0; });
    ASSERT_EQ(messagesIn(server_, "fleet_rest"), 2U);
    receiver_->consume(1);
    await([&] { return messagesIn(server_, "fleet_rest") == 0; });
    EXPECT_EQ(receiver_->seen, std::vector<int>{7});
}

TEST_F(UntilHandledTest, ADuplicateOfAHandledMessageIsAcknowledged) {
    publish(7);
    receiver_->consume(1);
    await([&] { return messagesIn(server_, "fleet_rest") == 0; });
    publish(7);
    await([&] { return statistics().duplicates == 1; });
    await([&] { return messagesIn(server_, "fleet_rest") == 0; });
    EXPECT_EQ(receiver_->seen, std::vector<int>{7});
}

TEST_F(UntilHandledTest, DiscardedMessagesAreAcknowledgedWithALaterOne) {
    publish(1);
    publish(2);
    await([&] { return statistics().delivered == 2; });
    EXPECT_EQ(receiver_->bus->discard(), 2U);
    publish(3);
    await([&] { return statistics().delivered == 3; });
    receiver_->consume(1);
    await([&] { return messagesIn(server_, "fleet_rest") == 0; });
    EXPECT_EQ(receiver_->seen, std::vector<int>{3});
}

// The handler keeps the header, so that no bridge exports the copy.
TEST_F(UntilHandledTest, AMessageThatIsPublishedAgainAcknowledgesNoLaterOne) {
    bool isPostponed = false;
    const Subscription postpone = receiver_->bus->subscribe<Position>(
        [&](const Position& position, const TestBus::Header& header) {
            if (position.robot == 1 && !std::exchange(isPostponed, true)) {
                const PublishOptions same{header.priority, header.sender, header.origin};
                EXPECT_EQ(receiver_->bus->publish(Position(position), same), SendResult::ok);
            }
        });
    publish(1);
    publish(2);
    await([&] { return statistics().delivered == 2; });
    receiver_->consume(3);  // both, and the copy
    await([&] { return messagesIn(server_, "fleet_rest") == 0; });
    publish(3);
    await([&] { return statistics().delivered == 3; });
    EXPECT_TRUE(receiver_->bridge.close(patience));
    EXPECT_EQ(messagesIn(server_, "fleet_rest"), 1U);
}

/// A message as another program would send it with high priority.
std::vector<unsigned char> highMessage(std::uint64_t sequence) {
    std::vector<unsigned char> bytes = message(sequence, route);
    wire::Envelope envelope;
    EXPECT_EQ(wire::decodeEnvelope(bytes.data(), bytes.size(), envelope),
              wire::EnvelopeError::none);
    envelope.priority = static_cast<std::uint8_t>(Priority::high);
    wire::encodeEnvelope(envelope, bytes.data(),
                         static_cast<std::uint32_t>(bytes.size() - wire::envelopeSize));
    return bytes;
}

// A handler finds that a medium message is urgent.
TEST_F(UntilHandledTest, AMessageThatIsPublishedAgainWithAnotherPriorityAcknowledgesNoOther) {
    const Subscription escalate = receiver_->bus->subscribe<Position>(
        [&](const Position& position, const TestBus::Header& header) {
            if (position.robot == 3 && header.priority == Priority::medium) {
                const PublishOptions urgent{Priority::high, header.sender, header.origin};
                EXPECT_EQ(receiver_->bus->publish(Position(position), urgent), SendResult::ok);
            }
        });
    publish(1);
    publish(2);
    publish(3);
    await([&] { return statistics().delivered == 3; });
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(receiver_->bus->process(1), 1U);
    }
    // The copy carries the number 3, and waits in front of three high messages.
    for (std::uint64_t sequence = 100; sequence < 103; ++sequence) {
        const auto high = highMessage(sequence);
        ASSERT_TRUE(stranger_.publish("fleet.high.position", high.data(), high.size()));
    }
    await([&] { return statistics().delivered == 6; });
    ASSERT_EQ(receiver_->bus->process(1), 1U);  // the copy
    ASSERT_EQ(receiver_->seen, (std::vector<int>{1, 2, 3, 3}));
    EXPECT_TRUE(receiver_->bridge.close(patience));
    EXPECT_EQ(messagesIn(server_, "fleet_high"), 3U);
}

TEST_F(UntilHandledTest, AnOrderlyCloseAcknowledgesTheHandledMessages) {
    for (std::uint64_t sequence = 1; sequence <= 10; ++sequence) {
        publish(sequence);
        receiver_->consume(1);
        endReceiver();
        EXPECT_EQ(messagesIn(server_, "fleet_rest"), 0U);
        receiver_ = std::make_unique<Station>(durableOptionsFor(server_, "receiver"));
        receiver_->bridge.importType<Position>(route);
    }
}

// close() waits for the outbox, because the server does not answer the messages of a full stream.
TEST(UntilHandledCloseTest, MessagesThatAreHandledDuringCloseAreAcknowledged) {
    const NatsServer server(NatsServer::withStreams);
    const auto small = [&](const char* name) {
        NatsOptions options = durableOptionsFor(server, name);
        options.durable.streamBytes = 8000;
        return options;
    };
    const NatsRoute full{"elsewhere", 1, Profile::durable};
    {
        Station away(small("away"));  // the stream keeps all messages for it
        away.bridge.importType<Position>(full);
    }
    Station receiver(small("receiver"));
    receiver.bridge.importType<Position>(route);
    auto outlet = receiver.bridge.outlet<Position>(full);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(outlet.send(Position{}, Priority::high), OutletResult::ok);
    }
    bool isComplete = true;
    std::thread closing([&] { isComplete = receiver.bridge.close(std::chrono::seconds(4)); });
    await([&] { return outlet.send(Position{}, Priority::high) == OutletResult::closed; });
    detail::Link stranger(optionsFor(server), "stranger");
    const auto bytes = message(1, route);
    ASSERT_TRUE(stranger.publish("fleet.medium.position", bytes.data(), bytes.size()));
    receiver.consume(1);
    closing.join();
    EXPECT_FALSE(isComplete);
    EXPECT_EQ(messagesIn(server, "fleet_rest"), 0U);
}

// A program keeps a message, and publishes it again when 600,000 others have passed.
TEST(UntilHandledImporterTest, AnOldMessageThatIsPublishedAgainAcknowledgesNoOther) {
    const auto bus = std::make_unique<TestBus>();
    detail::Counters counters;
    std::atomic<bool> isClosing{false};
    const detail::ImportContext<TestBus> context{*bus, counters, isClosing, 1, 16, false, nullptr};
    detail::Importer<Position, TestBus> importer(context, route, Priority::medium,
                                                 detail::ImportNumber::next());
    std::optional<TestBus::Header> first;
    const Subscription handler =
        bus->subscribe<Position>([&](const Position&, const TestBus::Header& header) {
            if (!first) {
                first.emplace(header);
            }
            importer.noteHandled(header.sender);
        });
    constexpr std::uint64_t last = 600'000;
    for (std::uint64_t sequence = 1; sequence <= last; ++sequence) {
        const auto bytes = message(sequence, route);
        ASSERT_EQ(importer.receive(bytes.data(), bytes.size()), detail::Verdict::accepted);
        ASSERT_EQ(bus->process(), 1U);
    }
    ASSERT_EQ(importer.handled(), last);
    const PublishOptions same{Priority::medium, first->sender, first->origin};
    ASSERT_EQ(bus->publish(Position{1, 0}, same), SendResult::ok);
    ASSERT_EQ(bus->process(), 1U);
    EXPECT_EQ(importer.handled(), last);
}

// A stranger sends it to the inbox of the import, without the server's stream.
TEST_F(UntilHandledTest, AMessageWithoutAReplyAcknowledgesNoOther) {
    const NatsServer server(NatsServer::withStreams);
    natsConnection* connection = nullptr;
    natsSubscription* orders = nullptr;
    natsMsg* order = nullptr;
    ASSERT_EQ(natsConnection_ConnectTo(&connection, server.url().c_str()), NATS_OK);
    const char* const next = "$JS.API.CONSUMER.MSG.NEXT.fleet_rest.receiver-position-medium";
    ASSERT_EQ(natsConnection_SubscribeSync(&orders, connection, next), NATS_OK);
    ASSERT_EQ(natsConnection_Flush(connection), NATS_OK);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(route);
    ASSERT_EQ(natsSubscription_NextMsg(&order, orders, 20'000), NATS_OK);
    const auto strange = message(1, route);
    ASSERT_EQ(natsConnection_Publish(connection, natsMsg_GetReply(order), strange.data(),
                                     static_cast<int>(strange.size())),
              NATS_OK);
    ASSERT_EQ(natsConnection_Flush(connection), NATS_OK);
    await([&] { return receiver.bridge.statistics().delivered == 1; });
    const auto bytes = message(2, route);
    ASSERT_EQ(natsConnection_Publish(connection, "fleet.medium.position", bytes.data(),
                                     static_cast<int>(bytes.size())),
              NATS_OK);
    ASSERT_EQ(natsConnection_Flush(connection), NATS_OK);
    await([&] { return receiver.bridge.statistics().delivered == 2; });
    EXPECT_EQ(receiver.bus->process(1), 1U);  // the stranger's
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(messagesIn(server, "fleet_rest"), 1U);
    natsMsg_Destroy(order);
    natsSubscription_Destroy(orders);
    natsConnection_Destroy(connection);
}

TEST(ImportNumberTest, TheNumbersOf4095ImportsDiffer) {
    std::set<std::uint32_t> seen;
    for (int i = 0; i < 4095; ++i) {
        seen.insert(detail::ImportNumber::next().senderOf(7));
    }
    EXPECT_EQ(seen.size(), 4095U);
    EXPECT_FALSE(detail::ImportNumber::next().isNone());
    EXPECT_FALSE(detail::ImportNumber::next().isOf(0));  // a message without a sender
}

TEST(ImportNumberTest, OnlyALaterMessageCounts) {
    const detail::ImportNumber number = detail::ImportNumber::next();
    const std::uint64_t before = (std::uint64_t{1} << 40) + (1U << 20) - 2;
    EXPECT_EQ(detail::ImportNumber::laterOf(before, number.senderOf(before + 5)), before + 5);
    EXPECT_EQ(detail::ImportNumber::laterOf(before, number.senderOf(before)), before);
    EXPECT_EQ(detail::ImportNumber::laterOf(before, number.senderOf(before - 5)), before);
}

// The handler of each bridge sees the messages of both.
TEST_F(UntilHandledTest, EachBridgeOfABusAcknowledgesItsOwnMessages) {
    TestBridge other(*receiver_->bus, durableOptionsFor(server_, "other"));
    const NatsRoute elsewhere{"elsewhere", 1, Profile::durable, true};
    other.importType<Position>(elsewhere);
    publish(1);
    await([&] { return statistics().delivered == 1; });
    publish(2, elsewhere);
    await([&] { return other.statistics().delivered == 1; });
    EXPECT_EQ(receiver_->bus->process(1), 1U);
    await([&] { return messagesIn(server_, "fleet_rest") == 1; });
    EXPECT_TRUE(other.close(patience));  // acknowledges the handled messages
    EXPECT_EQ(messagesIn(server_, "fleet_rest"), 1U);
}

// Its message is delivered again, and both copies are in the bus.
TEST_F(UntilHandledTest, AMessageOfAFormerBridgeOfTheBusIsNotTakenForItsOwn) {
    publish(1);
    await([&] { return statistics().delivered == 1; });
    EXPECT_TRUE(receiver_->bridge.close(patience));
    TestBridge next(*receiver_->bus, durableOptionsFor(server_, "receiver"));
    next.importType<Position>(route);
    await([&] { return next.statistics().delivered == 1; });
    EXPECT_EQ(receiver_->bus->process(1), 1U);
    EXPECT_TRUE(next.close(patience));
    EXPECT_EQ(messagesIn(server_, "fleet_rest"), 1U);
}

}  // namespace
}  // namespace sluice::nats
