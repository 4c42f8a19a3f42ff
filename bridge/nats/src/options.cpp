#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/wire/envelope.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace sluice::nats::detail {
namespace {

using std::chrono::milliseconds;

/// Milliseconds: 1 year. A longer time could overflow when it is added to a clock.
constexpr milliseconds::rep longest = milliseconds(std::chrono::hours(24 * 365)).count();
/// Milliseconds. libnats counts some waits in 31 bits.
constexpr milliseconds::rep longestInLibnats = std::numeric_limits<std::int32_t>::max();
/// Bytes. The server and libnats count the bytes of a message in 31 bits.
constexpr std::size_t largestMessage = std::size_t{1} << 30U;
constexpr int mostMessages = 1 << 24;

template <class T>
void requireBetween(T least, T most, T value, const char* setting) {
    if (value < least || value > most) {
        throw std::runtime_error(std::string("nats: ") + setting + " is " + std::to_string(value) +
                                 "; it must be at " + (value < least ? "least " : "most ") +
                                 std::to_string(value < least ? least : most));
    }
}

void requireTime(milliseconds::rep least, milliseconds value, const char* setting) {
    requireBetween(least, longest, value.count(), setting);
}

template <class T>
void requireAtLeast(T least, T value, const char* setting) {
    requireBetween(least, std::numeric_limits<T>::max(), value, setting);
}

/// The name of a stream is a part of subjects, and of file names on the server.
void requireStreamName(const std::string& name) {
    if (!isPlain(name, ".*>/\\\"")) {
        throw std::runtime_error("nats: durable.stream is '" + name +
                                 "'; it must not contain a space, a control character, a sign "
                                 "beyond ASCII, or one of . * > / \\ \"");
    }
}

void requireDurable(const DurableOptions& durable) {
    requireStreamName(durable.stream);
    requireBetween<std::size_t>(4, mostMessages, durable.outboxMessages, "outboxMessages");
    requireBetween<std::size_t>(1, mostMessages, durable.inFlight, "inFlight");
    requireBetween(1, mostMessages, durable.pullBatch, "pullBatch");
    requireTime(1, durable.ackWait, "ackWait");
    requireTime(1, durable.retryWait, "retryWait");
    // The least value that the server accepts.
    requireTime(100, durable.duplicateWindow, "duplicateWindow");
    requireTime(1, durable.redeliverAfter, "redeliverAfter");
    requireTime(0, durable.forgetAfter, "forgetAfter");
    requireAtLeast<std::int64_t>(1, durable.streamBytes, "streamBytes");
    requireAtLeast(1, durable.replicas, "replicas");
}

}  // namespace

const NatsOptions& checked(const NatsOptions& options) {
    requireBetween<milliseconds::rep>(1, longestInLibnats, options.connectTimeout.count(),
                                      "connectTimeout");
    requireBetween<milliseconds::rep>(0, longestInLibnats, options.writeTimeout.count(),
                                      "writeTimeout");
    requireTime(0, options.reconnectWait, "reconnectWait");
    requireTime(options.reconnectWait.count(), options.reconnectWaitLimit, "reconnectWaitLimit");
    requireTime(0, options.reconnectJitter, "reconnectJitter");
    requireAtLeast(1, options.importBacklog, "importBacklog");
    requireBetween<std::size_t>(1, largestMessage, options.sendBuffer, "sendBuffer");
    requireBetween<std::size_t>(1, 65'536, options.maxRequests, "maxRequests");
    requireBetween(wire::envelopeSize, largestMessage, options.maxMessageSize, "maxMessageSize");
    if (options.durable.shareWork && options.durable.name.empty()) {
        throw std::runtime_error("nats: durable.shareWork is true; it needs durable.name, the name "
                                 "that the programs share");
    }
    if (!options.durable.stream.empty()) {
        requireDurable(options.durable);
    }
    return options;
}

}  // namespace sluice::nats::detail
