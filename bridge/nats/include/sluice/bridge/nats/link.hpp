#pragma once

/// \file
/// Link: one connection to a NATS server. NatsBridge owns two. It hides libnats from its users.
///
/// Who may call what: publish by one thread at a time; subscribe by the owner, before close; close
/// by the owner; state by anybody. A receiver runs on a thread of libnats, one for each
/// subscription.
///
/// Edges: E1 complete: the end of a subscription's last call .. close() has returned.
///
/// Tests: bridge/nats/tests/nats_bridge_test.cpp.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace sluice::nats {

enum class LinkState : unsigned char { connected, disconnected, closed };

struct LinkOptions {
    std::string url = "nats://127.0.0.1:4222";
    std::string user;  ///< empty: none
    std::string password;
    std::chrono::milliseconds connectTimeout{2000};
    std::chrono::milliseconds reconnectWait{100};
    std::chrono::milliseconds reconnectJitter{100};  ///< a random time up to this is added
    int reconnectBuffer = 64 * 1024;                 ///< bytes kept while the server is away
};

/// Takes the bytes of one message. The bytes are gone when it returns.
class Receiver {
public:
    virtual void receive(const unsigned char* bytes, std::size_t size) noexcept = 0;

protected:
    ~Receiver() = default;
};

class Link {
public:
    /// Throws std::runtime_error with one line when the server cannot be reached or refuses.
    explicit Link(const LinkOptions& options);
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

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::nats
