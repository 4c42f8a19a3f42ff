#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sluice::nats {

/// The state of a connection. `closed` is final.
enum class LinkState : unsigned char { connected, disconnected, closed };

[[nodiscard]] constexpr const char* toString(LinkState state) noexcept {
    return state == LinkState::connected      ? "connected"
           : state == LinkState::disconnected ? "disconnected"
                                              : "closed";
}

/// Gets the events of a bridge. Derive from it and pass an object as LinkOptions::observer.
///
///     struct Printer : sluice::nats::LinkObserver {
///         void changed(const char*, sluice::nats::LinkState) noexcept override {}
///         void trouble(const char* line) noexcept override { std::puts(line); }
///     };
///
/// Threads: threads of libnats and of the bridge call its functions, several at once. The functions
/// must not call the bridge.
class LinkObserver {
public:
    /// The state of a connection has changed. `link` is "high" or "rest".
    virtual void changed(const char* link, LinkState state) noexcept = 0;
    /// Gets one line of text about trouble: messages are lost or refused, or the server refuses or
    /// does not answer. A link and a route tell the same line at most once in ten minutes, if they
    /// have at most 32 different ones to tell.
    virtual void trouble(const char* line) noexcept = 0;

protected:
    ~LinkObserver() = default;
};

/// The settings of the connections of a bridge.
struct LinkOptions {
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
    /// If the server reads nothing, a call that writes waits for at most this time, up to 2^31 - 1
    /// ms. Then the bridge gives the connection up and connects again. 0: such a call waits without
    /// limit.
    std::chrono::milliseconds writeTimeout{2000};
    /// The pause between two attempts to connect again: 0 to 1 year. A random time of up to
    /// reconnectJitter is added.
    std::chrono::milliseconds reconnectWait{100};
    std::chrono::milliseconds reconnectJitter{100};
    /// Bytes of messages that libnats keeps while there is no connection: at least 1.
    int reconnectBuffer = 64 * 1024;
    /// True: the call that sends a message returns after the message was written to the socket,
    /// which costs a system call for each message. False: libnats collects messages for up to a
    /// millisecond.
    bool sendAtOnce = false;
    LinkObserver* observer = nullptr;  ///< may be null; must outlive the bridge
};

/// The answer of a receiver to the stream.
enum class Verdict : unsigned char {
    taken,     ///< the message is done: do not deliver it again
    accepted,  ///< done as soon as handled() has counted this message
    repeated,  ///< a duplicate: done as soon as handled() has counted all messages accepted before
    later,     ///< deliver it again
    never      ///< the message is unreadable: do not deliver it again
};

/// Gets the messages of one subscription. The bytes are valid until receive() returns. Only streams
/// use the verdict.
class Receiver {
public:
    virtual Verdict receive(const unsigned char* bytes, std::size_t size) noexcept = 0;
    /// The number of messages that were accepted. The thread that calls receive() may call it.
    [[nodiscard]] virtual std::uint64_t accepted() const noexcept { return 0; }
    /// The number of accepted messages whose handlers have returned. Any thread may call it.
    [[nodiscard]] virtual std::uint64_t handled() const noexcept { return 0; }

protected:
    ~Receiver() = default;
};

/// One connection to a NATS server. NatsBridge owns two. It hides libnats from its users.
///
///     Link link(options, "rest");
///     link.subscribe("fleet.order.low", receiver, 1000);
///     const bool isSent = link.publish("fleet.position.low", bytes, size);
///     const bool isComplete = link.close(std::chrono::seconds(1));
///
/// Threads: any thread may call state() and dropped(), and publish() before close(). The owner
/// calls subscribe() before close(), and close(). Each subscription has a thread of libnats, which
/// calls the receiver.
///
/// Edges: E1 complete: the end of the last call of each receiver -> close() has returned.
///
/// Tests: bridge/nats/tests/nats_bridge_test.cpp.
class Link {
public:
    /// Connects to a server. Throws std::runtime_error with one line if no server can be reached,
    /// or if the server refuses. `name` is a constant; the observer gets it.
    Link(const LinkOptions& options, const char* name);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// Sends a message, and returns true if libnats accepted it. Returns false in these cases:
    ///
    /// - there is no connection, and the buffer of libnats is full;
    /// - the server reads nothing;
    /// - the message is larger than maxPayload();
    /// - the link is closed.
    [[nodiscard]] bool publish(const char* subject, const unsigned char* bytes,
                               std::size_t size) noexcept;

    /// Passes the messages of a subject to the receiver, which must live until close(). At most
    /// `backlog` messages wait for the receiver; more are dropped. Throws std::runtime_error if the
    /// subject is wrong.
    void subscribe(const std::string& subject, Receiver& receiver, int backlog);

    /// The number of messages that were dropped before close() because a receiver was slow.
    [[nodiscard]] std::uint64_t dropped() const noexcept;

    /// Sends the published messages, and lets the receivers handle the messages that have arrived,
    /// for at most `timeout`. Then it ends the connection. No receiver runs afterwards. Returns
    /// false if `timeout` passed first, or if there was no connection: then messages were lost.
    bool close(std::chrono::milliseconds timeout) noexcept;

    /// Waits until the server has all published messages and subscriptions. False if `timeout`
    /// passed first.
    [[nodiscard]] bool flush(std::chrono::milliseconds timeout) noexcept;

    [[nodiscard]] LinkState state() const noexcept;
    /// The largest message that the server accepts, with headers, in bytes.
    [[nodiscard]] std::size_t maxPayload() const noexcept;

    /// The part that uses libnats, for the other sources of the bridge.
    struct Impl;
    [[nodiscard]] Impl& impl() noexcept { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::nats
