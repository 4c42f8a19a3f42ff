#pragma once

#include <sluice/bus/priority.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::nats {

/// The state of a connection. `closed` is final.
enum class LinkState : unsigned char { connected, disconnected, closed };

[[nodiscard]] constexpr const char* toString(LinkState state) noexcept {
    return state == LinkState::connected      ? "connected"
           : state == LinkState::disconnected ? "disconnected"
                                              : "closed";
}

/// Receives the events of a bridge. Derive from it and pass an object as NatsOptions::observer.
///
///     struct Printer : sluice::nats::BridgeObserver {
///         void changed(const char*, sluice::nats::LinkState) noexcept override {}
///         void trouble(const char* line) noexcept override { std::puts(line); }
///     };
///
/// Threads: threads of libnats and of the bridge call its functions, several simultaneously. The
/// functions must not call the bridge.
class BridgeObserver {
public:
    /// The state of a connection has changed. `link` is "high" or "rest".
    virtual void changed(const char* link, LinkState state) noexcept = 0;
    /// Receives one line of text about a problem: messages are lost or refused, or the server
    /// refuses or does not answer. Each link and route repeats a line at most once in ten minutes,
    /// unless it has reported more than 32 different lines.
    virtual void trouble(const char* line) noexcept = 0;

protected:
    ~BridgeObserver() = default;
};

/// The settings of the durable profile, in which JetStream keeps messages until each importer has
/// acknowledged them.
struct DurableOptions {
    /// The name of the fleet's two streams, "<stream>_high" and "<stream>_rest". The bridge creates
    /// them. The name must not contain a space, a control character, a sign
    /// beyond ASCII, or one of . * > / \\ ". Empty:
    /// the bridge has no durable profile.
    std::string stream;
    /// The name of this program among the importers of the fleet. It must be unique. If it is the
    /// same after a restart, the program receives the messages that it has missed. Only importers
    /// need it.
    std::string name;

    /// The maximum number of unacknowledged messages in the outbox: 4 to 2^24.
    std::size_t outboxMessages = 1024;
    /// The folder in which outbox messages survive a restart of the process. A message is on the
    /// disk before it is accepted, so its sender waits for the disk. Empty: the outbox is in memory
    /// only. Each process needs its own folder.
    std::string outboxFolder;
    /// The lowest priority whose messages are stored in the folder. Lower priorities are also
    /// stored if their subfolders already exist.
    Priority onDiskFrom = Priority::high;
    /// The maximum number of sent but unacknowledged messages of one priority: 1 to 2^24.
    std::size_t inFlight = 512;
    /// If the server has not acknowledged a message after this time, the message is sent again: 1
    /// ms to 1 year.
    std::chrono::milliseconds ackWait{2000};
    /// If the server refused a message, the message is sent again after this time: 1 ms to 1 year.
    std::chrono::milliseconds retryWait{100};

    /// The maximum size of each stream in bytes: at least 1. A full stream refuses messages.
    std::int64_t streamBytes = std::int64_t{256} * 1024 * 1024;
    int replicas = 1;  ///< number of servers that store each message: at least 1
    /// If a message arrives twice within this time, the server drops the second one: 100 ms to 1
    /// year.
    std::chrono::milliseconds duplicateWindow{120'000};
    /// If true, several programs with the same name share the messages: the server delivers each
    /// message to one of them. All of them must set shareWork, and none of them counts gaps.
    bool shareWork = false;
    /// The longest interval between deliveries of an unacknowledged message: 1 ms to 1 year. The
    /// intervals are 1, 2, 4, ... seconds up to this value. With shareWork, all intervals have this
    /// value, so handlers must be faster.
    std::chrono::milliseconds redeliverAfter{30'000};
    /// The maximum number of unacknowledged messages per import and priority: 1 to 2^24.
    int pullBatch = 256;
    /// The server forgets an importer that is disconnected for this time (up to 1 year). 0: never,
    /// so an importer that does not restart lets the stream fill up.
    std::chrono::milliseconds forgetAfter{0};
};

/// The settings of a bridge.
///
///     sluice::nats::NatsOptions options;
///     options.url = "nats://robot-7:4222";
///     options.durable.stream = "fleet";
///     options.durable.name = "robot-7";
///     sluice::nats::NatsBridge bridge(bus, options);
///
/// If a setting is out of range, the bridge's constructor throws std::runtime_error with one line
/// that names the setting, the value and the limit.
struct NatsOptions {
    /// One server, or several separated by commas. If a password contains one of `,:/@`, use
    /// `password` instead of the URL.
    std::string url = "nats://127.0.0.1:4222";
    std::string user;  ///< empty: the bridge sends no user and no password
    std::string password;
    /// The public key of an nkey, and the path of the file with its seed. Empty: no nkey.
    std::string nkey;
    std::string nkeySeedFile;
    /// Path of a file with the certificate of an authority. If it is set, the link is encrypted and
    /// trusts servers with a certificate of this authority. If it is empty, the link is encrypted
    /// if the URL begins with tls://, and trusts the authorities of the system.
    std::string authorityFile;
    /// Paths of the certificate and the key of this program, for servers that ask for them. Empty:
    /// none.
    std::string certificateFile;
    std::string keyFile;
    /// How long the constructor waits for a server: 1 ms to 2^31 - 1 ms.
    std::chrono::milliseconds connectTimeout{2000};
    /// If true, the constructor returns even if no server accepts the connection within
    /// connectTimeout. The links are then `disconnected`, keep messages until they connect, and
    /// report later refusals of the server, for example of a stream, to the observer.
    bool startWithoutServer = false;
    /// If the server reads nothing for this time (up to 2^31 - 1 ms), the bridge drops the
    /// connection and reconnects. 0: never.
    std::chrono::milliseconds writeTimeout{2000};
    /// The first pause between two attempts to connect: 0 to 1 year. Each further pause is twice as
    /// long, up to reconnectWaitLimit (reconnectWait to 1 year). A random time of up to
    /// reconnectJitter is added.
    std::chrono::milliseconds reconnectWait{100};
    std::chrono::milliseconds reconnectWaitLimit{2000};
    std::chrono::milliseconds reconnectJitter{100};
    /// If true, each message is written to the socket immediately, which costs one system call. If
    /// false, libnats collects messages for up to a millisecond.
    bool sendAtOnce = false;
    BridgeObserver* observer = nullptr;  ///< may be null; must outlive the bridge
    /// A number that identifies the bus among all buses of the fleet. 0: a random number, which
    /// stays the same after a restart only if outboxFolder is set.
    std::uint64_t origin = 0;
    /// The maximum number of sender runs whose sequences an importer of one type and priority
    /// tracks. Messages of further runs are delivered too, but counted as untracked.
    std::size_t maxOrigins = 1024;
    /// Core profile: the size of each link's send buffer in bytes, at least 1. Messages wait in the
    /// buffer, for example while the server is unreachable or reads nothing. A full buffer refuses
    /// messages; an empty one accepts any message of up to maxMessageSize.
    std::size_t sendBuffer = std::size_t{1} << 20;
    /// The largest encoded message, in bytes with its envelope: 64 to 2^30. Each export on a core
    /// route and each message in the outbox has a buffer of this size.
    std::size_t maxMessageSize = std::size_t{64} * 1024;
    /// Core profile: the maximum number of messages per import and priority that wait for the
    /// importer, at least 1. Further messages are dropped and counted in `overrun`.
    int importBacklog = 65'536;
    /// The maximum number of open requests of all clients, and of questions per subject and
    /// priority that wait for their handler: 1 to 65,536. Further requests end as `full`.
    std::size_t maxRequests = 1024;
    DurableOptions durable;
};

/// The delivery guarantee of a route.
enum class Profile : unsigned char {
    core,    ///< at most once: a message may be lost
    durable  ///< at least once, from the outbox of the sender to the bus of the importer
};

/// The subject on the server and the delivery guarantee of one message type.
///
///     bridge.exportType<Position>({"fleet.position"});
///     bridge.importType<Order>({"fleet.order", 1, Profile::durable});
struct NatsRoute {
    std::string subject;
    /// The version of the type. Change it when the meaning of a field changes. An importer refuses
    /// and counts messages of other versions.
    std::uint32_t schemaVersion = 1;
    Profile profile = Profile::core;
    /// If false, a durable import acknowledges a message when the bus has accepted it. If true,
    /// when all handlers that were subscribed before importType() have returned. Conditions for
    /// true:
    ///
    /// - The traits of the bus set `priorities` and `senders`. The bridge sets `sender` of imported
    ///   messages to its own numbers.
    /// - The bus must not drop messages.
    /// - A program that publishes an imported message again, after a million later messages of the
    ///   import, must set `sender` of the copy to 0. Otherwise, the copy may acknowledge another
    ///   message.
    bool untilHandled = false;
};

/// The result of a send, or of the future of Outlet::confirm().
enum class [[nodiscard]] OutletResult : unsigned char {
    /// Sent. On durable routes, the outbox keeps the message until the server has stored it. The
    /// future of confirm(): the server has stored the message.
    ok,
    congested,  ///< refused: the outbox or link is full, because the server is slow or not
                ///< connected
    notOnDisk,  ///< refused: the disk of outboxFolder is full or broken
    tooLarge,   ///< refused: larger than maxMessageSize, or than the server accepts
    /// Refused: the bridge is closed, or libnats has closed the link for good. The future of
    /// confirm(): the bridge was closed before the server had stored it.
    closed,
    unencodable,   ///< refused by the codec, for example because a text is not UTF-8
    undeliverable  ///< only from confirm(): the server will never store the message
};

/// The reason why a request has no answer.
enum class RequestError : unsigned char {
    timedOut = 1,  ///< the deadline passed: the question or the answer was lost, late, or not sent
    noResponder,   ///< no program serves the subject
    full,          ///< too many open requests, or the link or the server's bus is full
    refused,       ///< the handler threw, or its bridge or bus was closed
    otherSchema,   ///< the programs have different types, or different versions of a type
    tooLarge,      ///< question or answer is larger than maxMessageSize, or than the server accepts
    unencodable,   ///< the codec refused the question or the answer
    closed         ///< the client's bridge was closed
};

[[nodiscard]] constexpr const char* toString(RequestError error) noexcept {
    switch (error) {
    case RequestError::timedOut:
        return "timedOut";
    case RequestError::noResponder:
        return "noResponder";
    case RequestError::full:
        return "full";
    case RequestError::refused:
        return "refused";
    case RequestError::otherSchema:
        return "otherSchema";
    case RequestError::tooLarge:
        return "tooLarge";
    case RequestError::unencodable:
        return "unencodable";
    case RequestError::closed:
        return "closed";
    }
    return "unknown error";
}

namespace detail {

/// Returns the options. If a setting is out of range, throws std::runtime_error with one line that
/// names the setting, its value and the limit.
const NatsOptions& checked(const NatsOptions& options);

}  // namespace detail
}  // namespace sluice::nats
