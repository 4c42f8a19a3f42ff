#pragma once

namespace sluice {

/// What a full container does with a new message.
enum class Overflow : unsigned char {
    reject,      ///< the send fails with `full`
    block,       ///< the sender waits for room
    dropOldest,  ///< the oldest queued message makes room, and is counted as dropped
};

}  // namespace sluice
