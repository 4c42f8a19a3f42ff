#pragma once

#include "nats_server.hpp"
#include "streams_of_server.hpp"

#include <nats/nats.h>

#include <stdexcept>
#include <string>

namespace sluice::test {

/// Takes the place of the high stream, which it deletes. It receives the messages of a bridge, and
/// the test decides about the answers.
class OwnStream {
public:
    explicit OwnStream(const NatsServer& server) {
        const std::string url = server.url();
        StreamsOfServer(url).remove("fleet_high");
        require(natsConnection_ConnectTo(&connection_, url.c_str()));
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

    /// Answers that the message with this reply subject is stored.
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

}  // namespace sluice::test
