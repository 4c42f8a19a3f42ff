#pragma once

namespace sluice::nats {

/// The result of a send.
enum class [[nodiscard]] OutletResult : unsigned char {
    ok,          ///< sent. Durable: the outbox keeps it until the server has stored it
    congested,   ///< refused: no room for its priority, because the server is slow or not connected
    notOnDisk,   ///< refused: the disk of outboxFolder is full or broken
    tooLarge,    ///< refused: larger than maxMessageSize, or than the server accepts
    closed,      ///< refused: the bridge is closed, or libnats has closed the link for good
    unencodable  ///< refused by the codec: a text is not UTF-8, for example
};

}  // namespace sluice::nats
