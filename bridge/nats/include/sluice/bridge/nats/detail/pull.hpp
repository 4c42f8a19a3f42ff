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
/// Threads: only the owner may call the functions. One thread calls all receivers, and acknowledges
/// messages. A full receiver delays only its own messages. If a message is not acknowledged, the
/// server delivers it again: see redeliverAfter.
///
/// For each import, the thread requests `pullBatch` messages from the server. It requests more if
/// half of them have arrived, the request has expired, the link has reconnected, or the server has
/// sent nothing for five seconds.
class Pull {
public:
    Pull(Link& link, const DurableOptions& options);
    Pull(const Pull&) = delete;
    Pull& operator=(const Pull&) = delete;
    ~Pull();

    /// Adds an import. The receiver must live until stop(). Throws std::runtime_error with one line
    /// if the server refuses the stream or the consumer.
    void add(Priority priority, const std::string& subject, Receiver& receiver);

    /// Passes the messages that have already arrived to the receivers, for at most `timeout`, and
    /// then ends the thread. Call stop() while the link is open.
    void stop(std::chrono::milliseconds timeout) noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::nats::detail
