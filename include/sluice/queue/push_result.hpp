#pragma once

#include <cstdint>

namespace sluice {

/// The result of a push. Any result except `ok` leaves the argument with the caller, unmoved.
enum class [[nodiscard]] PushResult : std::uint8_t {
    ok,      ///< accepted: it will be delivered, or destroyed with the queue
    full,    ///< no room at the moment of the call
    closed,  ///< the queue takes no new work
};

}  // namespace sluice
