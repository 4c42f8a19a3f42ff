#pragma once

#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bus/priority.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace sluice::nats::detail {

/// Receives the messages of one subject and priority from a stream. NatsBridge owns one for each
/// durable import and priority.
///
///     Pull pull(link, options.durable, Priority::high, "fleet.order", receiver);
///     pull.stop(std::chrono::seconds(1));  // before link.close()
///
/// Threads: the owner calls the constructor and stop(). The pull's own thread calls the receiver
/// and sends the verdict to the server. If the verdict of a message is missing, the server delivers
/// the message again after `redeliverAfter`.
///
/// The thread orders `pullBatch` messages from the server. It orders again in these cases:
///
/// - half of them have arrived;
/// - the order has expired;
/// - the link is connected again;
/// - the server has sent nothing for five seconds.
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

    /// Passes the messages that have already arrived to the receiver, for at most `timeout`. Then
    /// it ends the thread. Call it while the link is open.
    void stop(std::chrono::milliseconds timeout) noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::nats::detail
