#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice {

/// The result of push, publish, post and enqueue functions. Unless the result is `ok`, the caller
/// keeps its argument unchanged.
enum class [[nodiscard]] SendResult : std::uint8_t {
    ok,      ///< accepted; the message will be delivered, or counted as dropped or discarded
    full,    ///< the container was full at some moment during the call
    closed,  ///< no new messages are accepted
};

/// How a full container handles a new message.
enum class Overflow : unsigned char {
    reject,      ///< the send fails with the result `full`
    block,       ///< the sender waits while the container is full
    dropOldest,  ///< the oldest queued message is removed and counted as dropped
};

/// Means "no limit" as the `max` of a consume function or as the limit of a queue.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

[[nodiscard]] constexpr const char* toString(SendResult result) noexcept {
    return result == SendResult::ok       ? "ok"
           : result == SendResult::full   ? "full"
           : result == SendResult::closed ? "closed"
                                          : "unknown SendResult";
}

}  // namespace sluice
