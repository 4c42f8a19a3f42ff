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

/// Is told what happens to a bridge. Its functions are called by threads of libnats and of the
/// bridge, several at once. They must not call the bridge.
class LinkObserver {
public:
    /// `link` is "high" or "rest".
    virtual void changed(const char* link, LinkState state) noexcept = 0;
    /// One line about a message that was lost, or about a server that refuses.
    virtual void trouble(const char* line) noexcept = 0;

protected:
    ~LinkObserver() = default;
};

struct LinkOptions {
    /// Several servers may stand here, with commas between them.
    std::string url = "nats://127.0.0.1:4222";
    std::string user;  ///< empty: none
    std::string password;
    /// Public key of an nkey, and the file with its seed. Empty: none.
    std::string nkey;
    std::string nkeySeedFile;
    /// Encrypts the link, and trusts servers whose certificate this file has signed. Empty: a URL
    /// that begins with tls:// is encrypted all the same, with the authorities of the system.
    std::string authorityFile;
    /// Certificate and key of the program, for servers that ask. Empty: none.
    std::string certificateFile;
    std::string keyFile;
    std::chrono::milliseconds connectTimeout{2000};
    std::chrono::milliseconds reconnectWait{100};
    std::chrono::milliseconds reconnectJitter{100};  ///< a random time up to this is added
    int reconnectBuffer = 64 * 1024;                 ///< bytes kept while the server is away
    LinkObserver* observer = nullptr;                ///< must outlive the bridge
};

/// What a stream is told about a message.
enum class Verdict : unsigned char {
    taken,     ///< never again
    accepted,  ///< taken as soon as handled() has grown by one for it
    later,     ///< deliver it again
    never      ///< nobody can read it: never again
};

/// Takes the bytes of one message. The bytes are gone when it returns. Only streams have a use for
/// the verdict.
class Receiver {
public:
    virtual Verdict receive(const unsigned char* bytes, std::size_t size) noexcept = 0;
    /// How many messages with the verdict `accepted` have been handled. Any thread.
    [[nodiscard]] virtual std::uint64_t handled() const noexcept { return 0; }

protected:
    ~Receiver() = default;
};

/// One connection to a NATS server. NatsBridge owns two. It hides libnats from its users.
///
/// Who may call what: publish and state by anybody, before close; subscribe by the owner, before
/// close; close by the owner. A receiver runs on a thread of libnats, one for each subscription.
///
/// Edges: E1 complete: the end of a subscription's last call .. close() has returned.
///
/// Tests: bridge/nats/tests/nats_bridge_test.cpp.
class Link {
public:
    /// Throws std::runtime_error with one line when the server cannot be reached or refuses.
    /// `name` is a constant that the observer is told.
    Link(const LinkOptions& options, const char* name);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// False when libnats did not take it: the link is away and its buffer is full, the message is
    /// larger than the server allows, or the link is closed.
    [[nodiscard]] bool publish(const char* subject, const unsigned char* bytes,
                               std::size_t size) noexcept;

    /// The receiver must outlive the link or its close(). Throws std::runtime_error when the
    /// subject is wrong.
    void subscribe(const std::string& subject, Receiver& receiver);

    /// Sends what has been published and handles what has arrived until the timeout, then ends the
    /// connection. No receiver runs afterwards. False when the timeout came first or the server was
    /// away: messages were lost then.
    bool close(std::chrono::milliseconds timeout) noexcept;

    /// Whether the server has seen all that was published and subscribed.
    [[nodiscard]] bool flush(std::chrono::milliseconds timeout) noexcept;

    [[nodiscard]] LinkState state() const noexcept;

    /// For the other sources of the bridge, which include libnats.
    struct Parts;
    [[nodiscard]] Parts& parts() noexcept { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::nats
