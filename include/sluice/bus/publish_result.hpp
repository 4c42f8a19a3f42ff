#pragma once

namespace sluice {

/// What became of a message that was to be published. In all cases but `ok` it is still the
/// caller's, untouched.
enum class [[nodiscard]] PublishResult : unsigned char {
    ok,       ///< accepted: it will be delivered, or counted as dropped or discarded
    full,     ///< there is no room for any priority
    refused,  ///< the share of its priority is used up; a higher one would be let in
    closed,   ///< the bus has been closed
};

}  // namespace sluice
