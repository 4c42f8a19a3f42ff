#pragma once

namespace sluice {

/// The result of a publication. With any result except `ok` the caller keeps the message, unmoved.
enum class [[nodiscard]] PublishResult : unsigned char {
    ok,       ///< accepted: it will be delivered, or counted as dropped or discarded
    full,     ///< the room of high priority, or the bus without priorities, is full
    refused,  ///< the room of its priority, low or medium, is full; a higher one may have room
    closed,   ///< the bus has been closed
};

/// The name of the value, for logs and messages to people.
[[nodiscard]] constexpr const char* toString(PublishResult result) noexcept {
    switch (result) {
    case PublishResult::ok:
        return "ok";
    case PublishResult::full:
        return "full";
    case PublishResult::refused:
        return "refused";
    case PublishResult::closed:
        return "closed";
    }
    return "unknown PublishResult";
}

}  // namespace sluice
