#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sluice::nats {

enum class LinkState : unsigned char { connected, disconnected, closed };

[[nodiscard]] constexpr const char* toString(LinkState state) noexcept {
    return state == LinkState::connected      ? "connected"
           : state == LinkState::disconnected ? "disconnected"
                                              : "closed";
}

/// Gets the events of a bridge. Threads of libnats and of the bridge call its functions, several at
/// once. The functions must not call the bridge.
class LinkObserver {
public:
    /// `link` is "high" or "rest".
    virtual void changed(const char* link, LinkState state) noexcept = 0;
    /// One line about a kind of trouble: messages that are lost or refused, a server that refuses
    /// or does not answer. A route tells each kind once. A link tells the same line at most once in
    /// ten minutes.
    virtual void trouble(const char* line) noexcept = 0;

protected:
    ~LinkObserver() = default;
};

struct LinkOptions {
    /// One server, or several with commas between them. A password with a comma, a colon, a slash
    /// or an @ belongs into `password`.
    std::string url = "nats://127.0.0.1:4222";
    std::string user;  ///< empty: no user
    std::string password;
    /// Public key of an nkey, and the file with its seed. Empty: none.
    std::string nkey;
    std::string nkeySeedFile;
    /// The file of the authority. The link is encrypted, and trusts servers with a certificate of
    /// this authority. Empty: the link is encrypted if the URL begins with tls://, and trusts the
    /// authorities of the system.
    std::string authorityFile;
    /// Certificate and key of the program, for servers that ask. Empty: none.
    std::string certificateFile;
    std::string keyFile;
    std::chrono::milliseconds connectTimeout{2000};
    /// While the server reads nothing, a call that writes waits for at most this time. Then the
    /// bridge gives the connection up and connects again. 0: such a call waits without end.
    std::chrono::milliseconds writeTimeout{2000};
    std::chrono::milliseconds reconnectWait{100};
    std::chrono::milliseconds reconnectJitter{100};  ///< a random time up to this is added
    int reconnectBuffer = 64 * 1024;                 ///< bytes kept while there is no connection
    /// True: a message is written to the socket before the call that sends it returns. Each message
    /// then costs a system call. False: libnats collects messages for up to a millisecond.
    bool sendAtOnce = false;
    LinkObserver* observer = nullptr;  ///< must outlive the bridge
};

/// The answer of an importer to the stream.
enum class Verdict : unsigned char {
    taken,     ///< do not deliver it again
    accepted,  ///< taken as soon as handled() has grown by one for it
    repeated,  ///< taken as soon as handled() has grown for all that were accepted before it
    later,     ///< deliver it again
    never      ///< unreadable: do not deliver it again
};

/// Gets the bytes of one message. The bytes are valid until receive() returns. Only streams use the
/// verdict.
class Receiver {
public:
    virtual Verdict receive(const unsigned char* bytes, std::size_t size) noexcept = 0;
    /// The number of handled messages with the verdict `accepted`. Any thread may call it.
    [[nodiscard]] virtual std::uint64_t handled() const noexcept { return 0; }

protected:
    ~Receiver() = default;
};

/// One connection to a NATS server. NatsBridge owns two. It hides libnats from its users.
///
/// Threads: any thread calls state and dropped, and publish before close. The owner calls
/// subscribe, before close, and close. Each subscription has a thread of libnats, which calls the
/// receiver.
///
/// Edges: E1 complete: the end of a subscription's last call .. close() has returned.
///
/// Tests: bridge/nats/tests/nats_bridge_test.cpp.
class Link {
public:
    /// Throws std::runtime_error with one line if the server cannot be reached or refuses. `name`
    /// is a constant that the observer gets.
    Link(const LinkOptions& options, const char* name);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// False if libnats refused the message: there is no connection and its buffer is full, the
    /// server reads nothing, the message is larger than maxPayload(), or the link is closed.
    [[nodiscard]] bool publish(const char* subject, const unsigned char* bytes,
                               std::size_t size) noexcept;

    /// The receiver must live until close(). Messages beyond `backlog` that wait for the receiver
    /// are dropped. Throws std::runtime_error if the subject is wrong.
    void subscribe(const std::string& subject, Receiver& receiver, int backlog);

    /// The messages that were dropped because a receiver was slow, until close() was called.
    [[nodiscard]] std::uint64_t dropped() const noexcept;

    /// Sends the published messages and handles the messages that have arrived, until the timeout.
    /// Then it ends the connection. No receiver runs afterwards. False if the timeout came first,
    /// or if there was no connection: then messages were lost.
    bool close(std::chrono::milliseconds timeout) noexcept;

    /// Whether the server has all published messages and subscriptions.
    [[nodiscard]] bool flush(std::chrono::milliseconds timeout) noexcept;

    [[nodiscard]] LinkState state() const noexcept;
    /// The largest message that the server accepts, with headers, in bytes.
    [[nodiscard]] std::size_t maxPayload() const noexcept;

    /// For the other sources of the bridge, which include libnats.
    struct Parts;
    [[nodiscard]] Parts& parts() noexcept { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::nats
