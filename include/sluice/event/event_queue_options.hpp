#pragma once

#include <sluice/queue/queue_traits.hpp>

#include <cstddef>

namespace sluice {

/// The treatment of an event for which a bounded queue has no room.
enum class Overflow {
    reject,      ///< enqueue() returns false
    block,       ///< enqueue() waits for room; not from inside a listener of the only consumer, and
                 ///< not from inside the constructor of an argument
    dropOldest,  ///< the event at the front is destroyed; see discardedCount(). False only when all
                 ///< room belongs to events whose arguments are being built
};

/// How an EventQueue is bounded. By default it is not.
struct EventQueueOptions {
    /// How many events may be queued, not counting those that are being processed; at least 1.
    /// Events that come back, from processIf() or because a listener has thrown, do so even when
    /// their room has been given away meanwhile.
    std::size_t limit = unlimited;
    Overflow overflow = Overflow::reject;
    /// Bytes that the queue keeps for later events when the last one has been processed. When it
    /// has more, it frees all.
    std::size_t keptBytes = std::size_t{64} << 20U;
};

}  // namespace sluice
