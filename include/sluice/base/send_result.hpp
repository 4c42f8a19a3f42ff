#pragma once

#include <cstdint>

namespace sluice {

/// The result of a send: push, publish, post, enqueue. Unless it is `ok`, the caller keeps its
/// argument, unmoved.
enum class [[nodiscard]] SendResult : std::uint8_t {
    ok,      ///< accepted: the message will be delivered, dropped or discarded, and counted as such
    full,    ///< there was no room at some moment during the call
    closed,  ///< no new messages are accepted
};

/// Returns the name of the value, for logs and error messages.
[[nodiscard]] constexpr const char* toString(SendResult result) noexcept {
    switch (result) {
    case SendResult::ok:
        return "ok";
    case SendResult::full:
        return "full";
    case SendResult::closed:
        return "closed";
    }
    return "unknown SendResult";
}

}  // namespace sluice
