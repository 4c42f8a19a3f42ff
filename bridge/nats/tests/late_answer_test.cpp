#include "station.hpp"
#include "streams_of_server.hpp"

#include <gtest/gtest.h>
#include <nats/nats.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// Stands between a bridge and its stream, which has been deleted: it takes the messages of high
/// priority, and answers as it likes.
class OwnStream {
public:
    explicit OwnStream(const NatsServer& server) {
        StreamsOfServer(server).remove("fleet_high");
        require(natsConnection_ConnectTo(&connection_, server.url().c_str()));
        require(natsConnection_SubscribeSync(&messages_, connection_, "fleet.high.>"));
        require(natsConnection_Flush(connection_));
    }
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    ~OwnStream() {
        natsSubscription_Destroy(messages_);
        natsConnection_Destroy(connection_);
    }

    struct Message {
        std::string id;
        std::string reply;
    };

    /// Waits for the next message.
    Message next() {
        natsMsg* message = nullptr;
        require(natsSubscription_NextMsg(&message, messages_, 20'000));
        const char* id = nullptr;
        require(natsMsgHeader_Get(message, "Nats-Msg-Id", &id));
        Message seen{id, natsMsg_GetReply(message)};
        natsMsg_Destroy(message);
        return seen;
    }

    /// Says that the message of this reply subject is stored.
    void answer(const std::string& reply) {
        require(natsConnection_PublishString(connection_, reply.c_str(),
                                             R"({"stream":"fleet_high","seq":1})"));
        require(natsConnection_Flush(connection_));
    }

private:
    static void require(natsStatus status) {
        if (status != NATS_OK) {
            throw std::runtime_error(natsStatus_GetText(status));
        }
    }

    natsConnection* connection_ = nullptr;
    natsSubscription* messages_ = nullptr;
};

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
    ASSERT_EQ(outlet.send(Position{1, 0.0}, Priority::high), SendResult::ok);
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
    ASSERT_EQ(outlet.send(Position{1, 0.0}, Priority::high), SendResult::ok);
    const OwnStream::Message one = stream.next();
    OwnStream::Message again = stream.next();
    ASSERT_EQ(again.id, one.id);
    ASSERT_EQ(outlet.send(Position{2, 0.0}, Priority::high), SendResult::ok);
    stream.answer(one.reply);
    OwnStream::Message two = stream.next();
    while (two.id == one.id) {
        again = two;
        two = stream.next();
    }
    // Each answer to the first message is late now. A new try of the second one shows that none
    // of them freed it.
    stream.answer(one.reply);
    stream.answer(again.reply);
    EXPECT_EQ(stream.next().id, two.id);
    EXPECT_EQ(stream.next().id, two.id);
    EXPECT_EQ(sender.bridge.statistics().acknowledged, 1U);
    stream.answer(two.reply);
    await([&] { return sender.bridge.statistics().acknowledged == 2; });
}

// A server finds a subject faster that it has seen lately.
TEST(LateAnswerTest, WithoutRepetitionsTheSubjectsOfAnswersReturn) {
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = oneInFlight(server);
    options.durable.ackWait = 20s;
    Station sender(options);
    OwnStream stream(server);
    auto outlet = sender.bridge.outlet<Position>(durable);
    std::string subject;
    for (int i = 1; i <= 3; ++i) {
        ASSERT_EQ(outlet.send(Position{i, 0.0}, Priority::high), SendResult::ok);
        const OwnStream::Message message = stream.next();
        EXPECT_TRUE(subject.empty() || subject == message.reply);
        subject = message.reply;
        stream.answer(subject);
    }
}

}  // namespace
}  // namespace sluice::nats
