#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice {

/// The result of push, publish, post and enqueue functions. Unless the result is `ok`, the caller
/// keeps its argument unchanged.
enum class [[nodiscard]] SendResult : std::uint8_t {
    ok,    ///< accepted; the message is delivered, dropped or discarded later, and counted as such
    full,  ///< the container was full at some moment during the call
    closed,  ///< no new messages are accepted
};

/// What a full container does with a new message.
enum class Overflow : unsigned char {
    reject,      ///< the send fails with the result `full`
    block,       ///< the sender waits for room
    dropOldest,  ///< the oldest queued message is removed and counted as dropped
};

/// "No limit", for the `max` of consume functions and the limit of a queue.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

[[nodiscard]] constexpr const char* toString(SendResult result) noexcept {
    return result == SendResult::ok       ? "ok"
           : result == SendResult::full   ? "full"
           : result == SendResult::closed ? "closed"
                                          : "unknown SendResult";
}

}  // namespace sluice
