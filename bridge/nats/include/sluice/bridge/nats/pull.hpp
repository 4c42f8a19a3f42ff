#pragma once

#include <sluice/bridge/nats/options.hpp>
#include <sluice/bus/priority.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace sluice::nats {

/// Receives the messages of one subject and priority from a stream. NatsBridge owns one for each
/// durable import and priority.
///
/// Threads: the owner calls the constructor and stop. The pull's own thread calls the receiver, and
/// sends its verdict to the server. The server delivers a message without a verdict again after
/// `redeliverAfter`.
///
/// The thread orders `pullBatch` messages. It orders again when half of them have come, when the
/// order has expired, when the link is connected again, and when the server says nothing for five
/// seconds.
///
/// Tests: bridge/nats/tests/durable_test.cpp.
class Pull {
public:
    /// Throws std::runtime_error with one line if the server refuses the stream or the consumer.
    Pull(Link& link, const DurableOptions& options, Priority priority, std::string subject,
         Receiver& receiver);
    Pull(const Pull&) = delete;
    Pull& operator=(const Pull&) = delete;
    ~Pull();

    /// Passes the messages that have arrived to the receiver, for at most `timeout`. Then it ends
    /// the thread. The link must be open.
    void stop(std::chrono::milliseconds timeout) noexcept;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::nats
