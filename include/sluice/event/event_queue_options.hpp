#pragma once

#include <sluice/base/send_result.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The limits of an EventQueue, which has none by default.
struct EventQueueOptions {
    /// The maximum number of queued events; at least 1. Events that processIf() keeps, that
    /// peekEvent() copies, or that stay after an exception, may exceed the limit.
    std::size_t limit = unlimited;
    Overflow overflow = Overflow::reject;
    /// A queue with more than keptBytes of memory frees its spare memory after the last event.
    std::size_t keptBytes = std::size_t{64} << 20U;
};

/// The counts of an EventQueue at one moment, for which these equations hold:
///
///     attempted = enqueued + rejected
///     enqueued = processed + discarded + queued + those that consumers are processing
///
/// An enqueue() that throws does not count. The events of a batch count as processed at its end.
struct EventQueueStatistics {
    std::uint64_t enqueued = 0;   ///< accepted events
    std::uint64_t rejected = 0;   ///< refused events: the queue was full or closed
    std::uint64_t discarded = 0;  ///< events that made room for others, or were cleared
    std::uint64_t processed = 0;  ///< events that were passed to listeners or a visitor, or taken
    std::size_t queued = 0;       ///< events that wait
    std::size_t highWater = 0;    ///< the largest number of events that waited
};

}  // namespace sluice
