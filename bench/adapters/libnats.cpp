/// \file
/// A plain program of libnats: one connection, publishing and subscribing. Further subjects give
/// the server the same work as the bridge does.

#include "adapters/nats_subjects.hpp"

#if defined(SLUICE_BENCH_NATS)
#include <sluice/wire/envelope.hpp>
#include <sluice/wire/message_pack.hpp>

#include <nats/nats.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#endif

namespace sluice::bench {

#if defined(SLUICE_BENCH_NATS)
namespace {

void require(natsStatus status) {
    if (status != NATS_OK) {
        throw std::runtime_error(std::string("libnats: ") + natsStatus_GetText(status));
    }
}

class Connection {
public:
    /// `sendsAtOnce`: libnats writes each message to the socket alone.
    explicit Connection(bool sendsAtOnce = false) {
        natsOptions* options = nullptr;
        require(natsOptions_Create(&options));
        require(natsOptions_SetURL(options, natsUrl().c_str()));
        require(natsOptions_SetSendAsap(options, sendsAtOnce));
        // A busy server may need longer than the usual two seconds. The run would end there.
        require(natsOptions_SetTimeout(options, 30'000));
        const natsStatus status = natsConnection_Connect(&connection_, options);
        natsOptions_Destroy(options);
        require(status);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { natsConnection_Destroy(connection_); }
    natsConnection* get() const { return connection_; }
    void flush() const { require(natsConnection_FlushTimeout(connection_, 60'000)); }

private:
    natsConnection* connection_ = nullptr;
};

/// A text of this size, or of as many bytes as the bridge sends for it.
template <std::size_t Bytes>
std::string textOf(bool asTheBridge) {
    if (!asTheBridge) {
        return std::string(Bytes, 'x');
    }
    TextMessage<Bytes> message;
    (void)message.text.assign(std::string(Bytes, 'x'));
    std::array<unsigned char, 2 * Bytes + 64> body{};
    wire::Buffer buffer(body.data(), body.size());
    (void)wire::encode(message, buffer);
    return std::string(wire::envelopeSize + buffer.size(), 'x');
}

template <std::size_t Bytes, bool AsTheBridge, bool AtOnce = false>
Round publishRound(const RoundPlan& plan) {
    const Connection connection(AtOnce);
    const std::string text = textOf<Bytes>(AsTheBridge);
    const std::uint64_t last = plan.runIn + plan.messages - 1;
    return timedCalls(plan, [&](std::uint64_t number) {
        const natsStatus status =
            natsConnection_Publish(connection.get(), "plain.text", text.data(), int(text.size()));
        if (number + 1 == plan.runIn || number == last) {
            connection.flush();
        }
        return status == NATS_OK;
    });
}

enum class Promise {
    stored,      ///< the server has the message
    storedOnce,  ///< an id for each: the server drops a message that it has stored before
    asTheBridge  ///< also as many bytes; the stream keeps each message until its reader has it
};

/// JetStream's asynchronous publishing, with as many messages on their way as the bridge has.
template <std::size_t Bytes, Promise Given>
Round storeRound(const RoundPlan& plan) {
    const Connection connection;
    jsOptions options;
    require(jsOptions_Init(&options));
    options.PublishAsync.MaxPending = 512;
    jsCtx* context = nullptr;
    require(natsConnection_JetStream(&context, connection.get(), &options));
    const char* subject = "plain.stored";
    jsStreamConfig stream;
    require(jsStreamConfig_Init(&stream));
    stream.Name = "plain";
    stream.Subjects = &subject;
    stream.SubjectsLen = 1;
    stream.Discard = js_DiscardNew;
    stream.MaxBytes = std::int64_t{1} << 30;
    deleteStream(stream.Name);
    constexpr bool withIds = Given != Promise::stored;
    constexpr bool asTheBridge = Given == Promise::asTheBridge;
    stream.Retention = asTheBridge ? js_InterestPolicy : js_LimitsPolicy;
    require(js_AddStream(nullptr, context, &stream, nullptr, nullptr));
    if (asTheBridge) {
        jsConsumerConfig reader;
        require(jsConsumerConfig_Init(&reader));
        reader.Durable = "reader";
        reader.AckPolicy = js_AckExplicit;
        require(js_AddConsumer(nullptr, context, stream.Name, &reader, nullptr, nullptr));
    }
    const std::string text = textOf<Bytes>(asTheBridge);
    const std::uint64_t last = plan.runIn + plan.messages - 1;
    Round round = timedCalls(plan, [&](std::uint64_t number) {
        jsPubOptions named;
        std::string id;
        if (withIds) {
            (void)jsPubOptions_Init(&named);
            id = std::to_string(number);
            named.MsgId = id.c_str();
        }
        natsStatus status = js_PublishAsync(context, subject, text.data(), int(text.size()),
                                            withIds ? &named : nullptr);
        if (status == NATS_OK && (number + 1 == plan.runIn || number == last)) {
            jsPubOptions wait;
            (void)jsPubOptions_Init(&wait);
            wait.MaxWait = 60'000;
            status = js_PublishAsyncComplete(context, &wait);
        }
        return status == NATS_OK;
    });
    jsCtx_Destroy(context);
    return round;
}

struct Arrival {
    std::atomic<std::uint64_t> count{0};
    std::atomic<Nanoseconds> at{0};
};

void arrived(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    auto& arrival = *static_cast<Arrival*>(closure);
    arrival.at.store(now());
    arrival.count.fetch_add(1);
    natsMsg_Destroy(message);
}

template <bool AtOnce>
Round delayRound(const RoundPlan& plan) {
    const Connection sender(AtOnce);
    const Connection receiver;
    Arrival arrival;
    natsSubscription* subscription = nullptr;
    require(
        natsConnection_Subscribe(&subscription, receiver.get(), "plain.delay", &arrived, &arrival));
    receiver.flush();
    const std::string text(64, 'x');
    Round round = delaysOf(plan, arrival.count, arrival.at, [&] {
        return natsConnection_Publish(sender.get(), "plain.delay", text.data(), int(text.size())) ==
               NATS_OK;
    });
    natsSubscription_Destroy(subscription);
    return round;
}

}  // namespace

void deleteStream(const char* name) {
    const Connection connection;
    jsCtx* context = nullptr;
    require(natsConnection_JetStream(&context, connection.get(), nullptr));
    (void)js_DeleteStream(context, name, nullptr, nullptr);
    jsCtx_Destroy(context);
}
#endif

void addLibnats(NatsSubjects& subjects) {
    NatsSubject subject;
    subject.info.id = "libnats/plain";
    subject.info.library = "libnats";
    subject.info.prebuilt = true;
    subject.info.features.topology = "any thread";
    subject.info.features.bound = "exact";  // JetStream: the messages on their way
    subject.info.features.order = "each producer";
    subject.info.features.allocates = true;
    subject.info.features.blocking = true;
    subject.info.features.typeErasure = true;
#if defined(SLUICE_BENCH_NATS)
    subject.info.version = nats_GetVersion();
    subject.info.use =
        "natsConnection_Publish, js_PublishAsync with 512 messages on their way, and "
        "a subscription with a callback";
    if (natsUrl().empty()) {
        subject.info.absentBecause = noServer;
    }
    subject.rounds = {{"core-64B", &publishRound<64, false>},
                      {"core-1024B", &publishRound<1024, false>},
                      {"durable-64B", &storeRound<64, Promise::stored>},
                      {"durable-1024B", &storeRound<1024, Promise::stored>},
                      {"delay-core", &delayRound<false>}};
#else
    subject.info.absentBecause = notCompiledIn("SLUICE_BRIDGE_NATS", "ON");
#endif
    subjects.push_back(subject);
    NatsSubject named = subject;
    named.info.id = "libnats/ids";
#if defined(SLUICE_BENCH_NATS)
    named.info.use = "js_PublishAsync with an id for each message";
    named.rounds = {{"durable-64B", &storeRound<64, Promise::storedOnce>},
                    {"durable-1024B", &storeRound<1024, Promise::storedOnce>}};
#endif
    subjects.push_back(named);
    NatsSubject atOnce = subject;
    atOnce.info.id = "libnats/at-once";
#if defined(SLUICE_BENCH_NATS)
    atOnce.info.use = "natsOptions_SetSendAsap: each message is written to the socket alone";
    atOnce.rounds = {{"core-64B", &publishRound<64, false, true>},
                     {"delay-core", &delayRound<true>}};
#endif
    subjects.push_back(atOnce);
    NatsSubject same = subject;
    same.info.id = "libnats/as-bridge";
#if defined(SLUICE_BENCH_NATS)
    same.info.use = "as many bytes as the bridge sends; an id for each stored message, in a stream "
                    "that keeps it until its reader has it";
    same.rounds = {{"core-64B", &publishRound<64, true>},
                   {"core-1024B", &publishRound<1024, true>},
                   {"durable-64B", &storeRound<64, Promise::asTheBridge>},
                   {"durable-1024B", &storeRound<1024, Promise::asTheBridge>}};
#endif
    subjects.push_back(same);
}

}  // namespace sluice::bench
