#pragma once

#include <sluice/base/send_result.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The limits of an EventQueue. By default, the number of events is unlimited.
struct EventQueueOptions {
    /// The maximum number of queued events; at least 1. The queue may exceed the limit when
    /// processIf() or an exception puts events back, and during peekEvent().
    std::size_t limit = unlimited;
    Overflow overflow = Overflow::reject;
    /// A queue that becomes empty frees its memory if it holds more than this many bytes.
    std::size_t keptBytes = std::size_t{64} << 20U;
};

/// The counts of an EventQueue at one moment. These equations hold:
///
///     attempted = enqueued + rejected
///     enqueued = processed + discarded + queued + those that consumers are processing
///
/// An enqueue() that throws is not counted. process() adds its events to `processed` when it ends.
struct EventQueueStatistics {
    std::uint64_t enqueued = 0;   ///< accepted events
    std::uint64_t rejected = 0;   ///< events refused because the queue was full or closed
    std::uint64_t discarded = 0;  ///< events that were dropped for newer events, or cleared
    std::uint64_t processed = 0;  ///< events passed to listeners or a visitor, or taken out
    std::size_t queued = 0;       ///< events that wait for processing now
    std::size_t highWater = 0;    ///< the largest number of queued events so far
};

}  // namespace sluice
