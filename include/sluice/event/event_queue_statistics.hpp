#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The counts of the events of a queue whose policy says
/// `static constexpr bool statistics = true`. All figures are of one moment, and at each moment
///
///     attempted = enqueued + rejected
///     enqueued = processed + discarded + queued + those that consumers have taken and not finished
///
/// If a constructor of an argument throws, the attempt does not count. The figures of a batch
/// change when the consumer has finished the batch.
struct EventQueueStatistics {
    std::uint64_t enqueued = 0;   ///< accepted events
    std::uint64_t rejected = 0;   ///< refused events: the queue was full or closed
    std::uint64_t discarded = 0;  ///< events that made room for others, or were cleared
    std::uint64_t processed = 0;  ///< events that were passed to listeners or a visitor, or taken
    std::size_t queued = 0;       ///< events that wait
    std::size_t highWater = 0;    ///< the most events that waited at once
};

}  // namespace sluice
