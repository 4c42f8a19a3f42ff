#pragma once

#include <sluice/base/overflow.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <cstddef>

namespace sluice {

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
