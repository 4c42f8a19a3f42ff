#pragma once

#include <sluice/bridge/nats/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sluice::nats::detail {

/// A receiver's answer to the stream.
enum class Verdict : unsigned char {
    taken,     ///< the message is done: do not deliver it again
    accepted,  ///< done when handled() has counted this message
    repeated,  ///< a duplicate: done when handled() has counted all messages accepted earlier
    full,      ///< the receiver is full, and has counted nothing: offer the message again
    later,     ///< deliver it again
    never      ///< the message is unreadable: do not deliver it again
};

/// Receives the messages of one subscription. The bytes are valid until receive() returns.
/// Subscriptions without a stream ignore the verdict.
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

/// A question or an answer. Valid until receive() returns.
struct Arrival {
    const char* subject;
    const char* reply;  ///< the subject for the answer; null: none
    const unsigned char* bytes;
    std::size_t size;
    bool isNoResponder;  ///< the server reports that no program serves the subject
};
class ArrivalReceiver {
public:
    virtual void receive(const Arrival& arrival) noexcept = 0;
    /// Refuses open and later arrivals. Only the owner may call stop().
    virtual void stop() noexcept = 0;

protected:
    ~ArrivalReceiver() = default;
};

/// One connection to a NATS server. NatsBridge owns two. Users of a Link do not include libnats.
///
///     Link link(options, "rest");
///     link.subscribe("fleet.order.low", receiver, 1000);
///     const bool isSent = link.publish("fleet.position.low", bytes, size);
///     const bool isComplete = link.close(std::chrono::seconds(1));
///
/// Threads: any thread may call state(), dropped() and publish(). Only the owner may call the other
/// functions. The link's own thread passes published messages to libnats, because a call of libnats
/// may wait for the server. For each subscription, a thread of libnats calls the receiver.
///
/// Edges: E1 complete: the end of the last call of each receiver -> close() has returned.
///
/// Tests: bridge/nats/tests/nats_bridge_test.cpp.
class Link {
public:
    /// Connects to a server. Throws std::runtime_error with one line if no server can be reached,
    /// or if the server refuses. `name` is a constant for the observer.
    Link(const NatsOptions& options, const char* name);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// Copies a message into the send buffer. Never waits for the server. Returns false if the
    /// buffer is full, if the message is larger than maxPayload(), or if the link is closed.
    [[nodiscard]] bool publish(const char* subject, const unsigned char* bytes,
                               std::size_t size) noexcept {
        return publish(subject, bytes, size, "", Clock::time_point::max());
    }
    using Clock = std::chrono::steady_clock;
    /// Like publish() above, for questions and answers. `reply` is the subject for the answer, or
    /// empty for an answer. If there is no connection until the deadline, the message is not sent.
    [[nodiscard]] bool publish(const char* subject, const unsigned char* bytes, std::size_t size,
                               const char* reply, Clock::time_point deadline) noexcept;

    /// Passes the messages of a subject to the receiver, which must live until close(). At most
    /// `backlog` messages wait for the receiver; further messages are dropped. Throws
    /// std::runtime_error if the subject is invalid.
    void subscribe(const std::string& subject, Receiver& receiver, int backlog);
    /// Like subscribe() above, for questions and answers. Of all subscriptions with the same
    /// `queue`, in all programs, only one receives each message.
    void subscribe(const std::string& subject, ArrivalReceiver& receiver, int backlog,
                   const char* queue = nullptr);

    /// The number of messages that were dropped before close() because a receiver was slow.
    [[nodiscard]] std::uint64_t dropped() const noexcept;

    /// Sends the published messages, and lets the receivers handle the messages that have arrived,
    /// for at most `timeout`. Then closes the connection. No receiver runs afterwards. Returns
    /// false if messages were lost, because `timeout` passed first or there was no connection.
    bool close(std::chrono::milliseconds timeout) noexcept;

    /// Waits until the server has all published messages and subscriptions. Returns false after
    /// `timeout`.
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

}  // namespace sluice::nats::detail
