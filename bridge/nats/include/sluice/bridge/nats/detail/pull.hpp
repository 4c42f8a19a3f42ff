#pragma once

#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bus/priority.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace sluice::nats::detail {

/// Receives the messages of all durable imports of a link from their streams. NatsBridge owns one
/// for each link.
///
///     Pull pull(link, options.durable);
///     pull.add(Priority::high, "fleet.order", receiver);
///     pull.stop(std::chrono::seconds(1));  // before link.close()
///
/// Threads: the owner calls the functions. One thread calls all receivers, and answers the server.
/// If a receiver has no room, its messages wait, and those of other receivers pass. If the answer
/// to a message is missing, the server delivers the message again after `redeliverAfter`.
///
/// For each import the thread orders `pullBatch` messages from the server. It orders again if half
/// of them have arrived, the order has expired, the link is connected again, or the server has sent
/// nothing for five seconds.
class Pull {
public:
    Pull(Link& link, const DurableOptions& options);
    Pull(const Pull&) = delete;
    Pull& operator=(const Pull&) = delete;
    ~Pull();

    /// Adds an import. The receiver must live until stop(). Throws std::runtime_error with one line
    /// if the server refuses the stream or the consumer.
    void add(Priority priority, const std::string& subject, Receiver& receiver);

    /// Passes the messages that have already arrived to the receivers, for at most `timeout`. Then
    /// it ends the thread. Call it while the link is open.
    void stop(std::chrono::milliseconds timeout) noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::nats::detail
