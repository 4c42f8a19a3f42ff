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
    /// Receives one line of text about trouble: messages are lost or refused, or the server refuses
    /// or does not answer. A link and a route report the same line at most once in ten minutes, if
    /// they have at most 32 different ones.
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

    /// The most messages that the outbox holds until the server acknowledges them: 4 to 2^24.
    std::size_t outboxMessages = 1024;
    /// The folder that keeps messages over a restart of the process. A message is on the disk
    /// before it is accepted, so its sender waits for the disk. Empty: the outbox is in memory
    /// only. Each process needs a folder of its own.
    std::string outboxFolder;
    /// The folder keeps messages of this priority and above. It also keeps messages of a lower
    /// priority if their folder exists already.
    Priority onDiskFrom = Priority::high;
    /// The most messages of one priority that wait for an acknowledgement at the same time: 1 to
    /// 2^24.
    std::size_t inFlight = 512;
    /// If the server has not acknowledged a message after this time, the message is sent again: 1
    /// ms to 1 year.
    std::chrono::milliseconds ackWait{2000};
    /// If the server refused a message, the message is sent again after this time: 1 ms to 1 year.
    std::chrono::milliseconds retryWait{100};

    /// The most bytes of each stream: at least 1. A full stream refuses messages.
    std::int64_t streamBytes = std::int64_t{256} * 1024 * 1024;
    int replicas = 1;  ///< number of servers that store each message: at least 1
    /// If a message arrives twice within this time, the server drops the second one: 100 ms to 1
    /// year.
    std::chrono::milliseconds duplicateWindow{120'000};
    /// True: several programs have this name, and share the messages. The server delivers each
    /// message to one of them. All of them set the option, and count no gaps.
    bool shareWork = false;
    /// If an importer has not acknowledged a message, the server delivers it again after 1, 2, 4,
    /// ... seconds, and at last each time after this time: 1 ms to 1 year. With shareWork it
    /// delivers it again each time after this time, so handlers must be faster.
    std::chrono::milliseconds redeliverAfter{30'000};
    /// The most messages of an import and priority that wait for an acknowledgement: 1 to 2^24.
    int pullBatch = 256;
    /// If an importer has no connection for this time, the server forgets it: up to 1 year. 0: the
    /// server never forgets it, so a program that does not start again fills the stream.
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
/// The constructor of the bridge refuses a setting that is out of range with a std::runtime_error.
/// Its one line names the setting, the value and the limit.
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
    /// True: if no server accepts the connection within connectTimeout, the constructor returns
    /// nevertheless. The links are `disconnected`, keep messages like any link without a server,
    /// and connect later. If the server then refuses, for example a stream, the observer receives
    /// the line that would have been thrown.
    bool startWithoutServer = false;
    /// If the server reads nothing for this time, up to 2^31 - 1 ms, the bridge gives the
    /// connection up and connects again. 0: it waits without limit.
    std::chrono::milliseconds writeTimeout{2000};
    /// The first pause between two attempts to connect: 0 to 1 year. Each further pause is twice as
    /// long, at most reconnectWaitLimit: reconnectWait to 1 year. A random time of up to
    /// reconnectJitter is added.
    std::chrono::milliseconds reconnectWait{100};
    std::chrono::milliseconds reconnectWaitLimit{2000};
    std::chrono::milliseconds reconnectJitter{100};
    /// True: each message is written to the socket alone, which costs a system call for each
    /// message. False: libnats collects messages for up to a millisecond.
    bool sendAtOnce = false;
    BridgeObserver* observer = nullptr;  ///< may be null; must outlive the bridge
    /// The number of the bus among all buses of the fleet. 0: a random number. The outboxFolder
    /// keeps it, so that it stays the same over a restart; without a folder each start has another
    /// one.
    std::uint64_t origin = 0;
    /// The most runs of senders whose sequences an importer of one type and priority follows.
    /// Messages of other senders are delivered too, and counted as untracked.
    std::size_t maxOrigins = 1024;
    /// Core profile: bytes of messages that each of the two links keeps until its thread passes
    /// them to libnats, for example while the server is away or reads nothing. A message that finds
    /// no room is refused. At least 1; a message of maxMessageSize always finds room in an empty
    /// link.
    std::size_t sendBuffer = std::size_t{1} << 20;
    /// The largest encoded message, in bytes with its envelope: 64 to 2^30. Each export on a core
    /// route and each message in the outbox has a buffer of this size.
    std::size_t maxMessageSize = std::size_t{64} * 1024;
    /// Core profile: the most messages of one import and priority that wait for the importer: at
    /// least 1. More messages are dropped and counted in `overrun`.
    int importBacklog = 65'536;
    /// The most open requests of all clients, and the most questions of one subject and priority
    /// that wait for their handler: 1 to 65,536. Further requests end as `full`.
    std::size_t maxRequests = 1024;
    DurableOptions durable;
};

/// The guarantee of a route.
enum class Profile : unsigned char {
    core,    ///< at most once: a message may be lost
    durable  ///< at least once, from the outbox of the sender to the bus of the importer
};

/// How the messages of one type travel: their subject on the server, and their guarantee.
///
///     bridge.exportType<Position>({"fleet.position"});
///     bridge.importType<Order>({"fleet.order", 1, Profile::durable});
struct NatsRoute {
    std::string subject;
    /// The version of the type. Change it when the meaning of a field changes. An importer refuses
    /// and counts messages of other versions.
    std::uint32_t schemaVersion = 1;
    Profile profile = Profile::core;
    /// Durable imports: when the importer acknowledges a message. False: as soon as the bus has
    /// accepted it. True: after those handlers have returned that the bus had at importType(). True
    /// has these conditions:
    ///
    /// - The traits of the bus set `priorities` and `senders`. The bridge sets `sender` of the
    ///   imported messages to numbers of its own.
    /// - The bus must not drop messages.
    /// - A program may publish an imported message again. If a million messages of the import have
    ///   come since, it sets `sender` of the copy to 0. Otherwise the copy may acknowledge another
    ///   message.
    bool untilHandled = false;
};

/// The result of a send, and of a future of Outlet::confirm().
enum class [[nodiscard]] OutletResult : unsigned char {
    /// Sent. Durable: the outbox keeps it until the server has stored it. The future of confirm():
    /// the server has stored it.
    ok,
    congested,  ///< refused: no room for its priority, because the server is slow or not connected
    notOnDisk,  ///< refused: the disk of outboxFolder is full or broken
    tooLarge,   ///< refused: larger than maxMessageSize, or than the server accepts
    /// Refused: the bridge is closed, or libnats has closed the link for good. The future of
    /// confirm(): the bridge was closed before the server had stored it.
    closed,
    unencodable,   ///< refused by the codec: a text is not UTF-8, for example
    undeliverable  ///< the future of confirm() only: the server will never store it
};

/// Why a request of a Client has no answer.
enum class RequestError : unsigned char {
    timedOut = 1,  ///< the deadline passed: the question or the answer was lost, late, or not sent
    noResponder,   ///< no program serves the subject
    full,          ///< no room: for open requests, in the link, or in the bus of the server
    refused,       ///< the handler threw, or its bridge or bus was closed
    otherSchema,   ///< the programs have different types, or other versions of them
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

/// Returns the options. If a setting is out of range, it throws std::runtime_error with one line
/// that names the setting, its value and the limit.
const NatsOptions& checked(const NatsOptions& options);

}  // namespace detail
}  // namespace sluice::nats
