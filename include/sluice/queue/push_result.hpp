#pragma once

#include <cstdint>

namespace sluice {

/// The result of a push. With any result except `ok` the caller keeps the argument, unmoved.
enum class [[nodiscard]] PushResult : std::uint8_t {
    ok,      ///< accepted: it will be delivered, or destroyed with the queue
    full,    ///< no room at the moment of the call
    closed,  ///< the queue takes no new work
};

/// The name of the value, for logs and messages to people.
[[nodiscard]] constexpr const char* toString(PushResult result) noexcept {
    switch (result) {
    case PushResult::ok:
        return "ok";
    case PushResult::full:
        return "full";
    case PushResult::closed:
        return "closed";
    }
    return "unknown PushResult";
}

}  // namespace sluice
