#pragma once

#include <sluice/bridge/nats/options.hpp>
#include <sluice/bus/priority.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace sluice::nats {

/// Brings the messages of one subject and priority out of a stream. NatsBridge owns one for
/// each durable import and priority.
///
/// Who may call what: the constructor and stop by the owner. The receiver is called by the pull's
/// own thread, and its verdict goes to the server. A message without a verdict comes again after
/// `redeliverAfter`.
///
/// The thread always has `pullBatch` messages on order. It orders again when half of them have
/// come, when the order has expired, and when the link is connected again.
///
/// Tests: bridge/nats/tests/durable_test.cpp.
class Pull {
public:
    /// Throws std::runtime_error with one line when the server refuses the stream or the consumer.
    Pull(Link& link, const DurableOptions& options, Priority priority, std::string subject,
         Receiver& receiver);
    Pull(const Pull&) = delete;
    Pull& operator=(const Pull&) = delete;
    ~Pull();

    /// Hands over what has arrived, for at most `timeout`, and ends the thread. The link must be
    /// open.
    void stop(std::chrono::milliseconds timeout) noexcept;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::nats
