#pragma once

#include "nats_server.hpp"

#include <nats/nats.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sluice::test {

/// A connection of the test. The test reads and changes a server's streams with it.
class StreamsOfServer {
public:
    explicit StreamsOfServer(const NatsServer& server) : StreamsOfServer(server.url()) {}
    explicit StreamsOfServer(const std::string& url) {
        require(natsConnection_ConnectTo(&connection_, url.c_str()));
        require(natsConnection_JetStream(&context_, connection_, nullptr));
    }
    StreamsOfServer(const StreamsOfServer&) = delete;
    StreamsOfServer& operator=(const StreamsOfServer&) = delete;
    ~StreamsOfServer() {
        jsCtx_Destroy(context_);
        natsConnection_Destroy(connection_);
    }

    void add(const char* name, const char* subject) {
        jsStreamConfig wanted;
        require(jsStreamConfig_Init(&wanted));
        wanted.Name = name;
        wanted.Subjects = &subject;
        wanted.SubjectsLen = 1;
        require(js_AddStream(nullptr, context_, &wanted, nullptr, nullptr));
    }

    /// Makes the stream refuse messages with more bytes than this.
    void limitMessages(const char* name, std::int32_t bytes) {
        jsStreamInfo* info = nullptr;
        require(js_GetStreamInfo(&info, context_, name, nullptr, nullptr));
        info->Config->MaxMsgSize = bytes;
        const natsStatus status =
            js_UpdateStream(nullptr, context_, info->Config, nullptr, nullptr);
        jsStreamInfo_Destroy(info);
        require(status);
    }

    void remove(const char* name) { require(js_DeleteStream(context_, name, nullptr, nullptr)); }

    [[nodiscard]] std::uint64_t messagesIn(const char* name) { return stateOf(name).Msgs; }
    [[nodiscard]] std::int64_t importsOf(const char* name) { return stateOf(name).Consumers; }

    /// The messages that a consumer has delivered, and that nobody has acknowledged.
    [[nodiscard]] std::int64_t unacknowledgedBy(const char* stream, const char* consumer) {
        jsConsumerInfo* info = nullptr;
        require(js_GetConsumerInfo(&info, context_, stream, consumer, nullptr, nullptr));
        const std::int64_t count = info->NumAckPending;
        jsConsumerInfo_Destroy(info);
        return count;
    }

    /// The name of the server that leads the stream. Empty while there is none.
    [[nodiscard]] std::string leaderOf(const char* name) {
        jsStreamInfo* info = nullptr;
        if (js_GetStreamInfo(&info, context_, name, nullptr, nullptr) != NATS_OK) {
            return {};
        }
        const jsClusterInfo* const cluster = info->Cluster;
        std::string leader =
            cluster != nullptr && cluster->Leader != nullptr ? cluster->Leader : "";
        jsStreamInfo_Destroy(info);
        return leader;
    }

private:
    /// Copies the numbers only, because the lists belong to the answer of the server.
    jsStreamState stateOf(const char* name) {
        jsStreamInfo* info = nullptr;
        require(js_GetStreamInfo(&info, context_, name, nullptr, nullptr));
        const jsStreamState state = info->State;
        jsStreamInfo_Destroy(info);
        return state;
    }

    static void require(natsStatus status) {
        if (status != NATS_OK) {
            throw std::runtime_error(natsStatus_GetText(status));
        }
    }

    natsConnection* connection_ = nullptr;
    jsCtx* context_ = nullptr;
};

inline void addStream(const NatsServer& server, const char* name, const char* subject) {
    StreamsOfServer(server).add(name, subject);
}
inline std::uint64_t messagesIn(const NatsServer& server, const char* name) {
    return StreamsOfServer(server).messagesIn(name);
}

}  // namespace sluice::test
