#pragma once

#include <sluice/queue/queue_traits.hpp>

#include <cstddef>

namespace sluice {

/// The treatment of an event for which a bounded queue has no room.
enum class Overflow {
    reject,  ///< enqueue() returns false
    block,   ///< enqueue() waits for room. Do not call it in a listener of the only consumer, or
             ///< in the constructor of an argument
    dropOldest,  ///< enqueue() destroys the oldest event; see discardedCount(). It returns false
                 ///< only if all room belongs to events whose arguments are being built. No event
                 ///< may be the last owner of the queue
};

/// The limits of an EventQueue. By default it has no limit.
struct EventQueueOptions {
    /// The number of events that may be queued, without those that are being processed; at least 1.
    /// Two kinds of events come back even if no room is left: those that processIf() keeps, and
    /// those that stay after a listener has thrown.
    std::size_t limit = unlimited;
    Overflow overflow = Overflow::reject;
    /// The bytes that the queue keeps for later events after the last event. If it has more bytes,
    /// it frees all its memory.
    std::size_t keptBytes = std::size_t{64} << 20U;
};

}  // namespace sluice
