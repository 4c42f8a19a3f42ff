#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The accounts of the events of a queue whose policy says `static constexpr bool statistics =
/// true`. All figures are of one moment, and at each moment
///
///     attempted = enqueued + rejected
///     enqueued = processed + discarded + queued + those that consumers have in hand
///
/// where an attempt whose arguments threw when they were built counts as none. What a consumer has
/// done with a batch shows when the batch has ended.
struct EventQueueStatistics {
    std::uint64_t enqueued = 0;   ///< accepted
    std::uint64_t rejected = 0;   ///< refused: the queue was full or closed
    std::uint64_t discarded = 0;  ///< made room for others, or were cleared
    std::uint64_t processed = 0;  ///< went to listeners or a visitor, or were taken
    std::size_t queued = 0;       ///< are waiting
    std::size_t highWater = 0;    ///< the most that were waiting at once
};

}  // namespace sluice
