#pragma once

#include <sluice/bus/overflow_policy.hpp>
#include <sluice/bus/pressure.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/wait/batch_pacing.hpp>
#include <sluice/wait/park.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>

namespace sluice {

/// Where the time stamp of a message comes from.
enum class TimeStamp : unsigned char {
    none,    ///< there is none, and it takes no room
    cached,  ///< while messages flow, the time of the consumer's last look for messages, at the
             ///< cost of one load; otherwise the time of the publication. Messages flow from a
             ///< harvest of 8 messages on, until the consumer waits, finds nothing 64 times, or
             ///< finds fewer than 8 after 100 us. If the consumer stops looking, the stamp gets old
    exact,   ///< the time of the publication; costs a reading of the clock
};

/// The order in which the consumer serves the priorities.
enum class PriorityOrder : unsigned char {
    strict,    ///< a message waits for all messages of a higher priority
    weighted,  ///< each priority gets its weight in every round, so that no priority waits for ever
};

using Service [[deprecated("renamed: PriorityOrder")]] = PriorityOrder;

enum class Producers : unsigned char { one, many };

/// Hears the events of a bus. Its members do nothing. Derive from it, and redeclare the members for
/// the events that you want to hear:
///
///     struct Watcher : sluice::BusObserver {
///         void pressureChanged(Pressure before, Pressure now) noexcept;
///     };
///
/// The bus calls them on the thread that noticed the event, never under a lock. Calls of several
/// threads may overlap, and may come in another order than the changes: pressure() returns the
/// present level. The members must not throw: an exception ends the program.
struct BusObserver {
    static void handlerFailed(std::size_t /*typeIndex*/, const std::exception_ptr&) noexcept {}
    static void pressureChanged(Pressure /*before*/, Pressure /*now*/) noexcept {}
};

/// The settings of a bus, besides those of QueueTraits. Derive from them, and redeclare the members
/// that change. Buses with different traits are different types.
struct FullBusTraits : QueueTraits {
    /// How publishers wait for room and consumers for messages.
    using Wait = Park;
    /// Whether the calling thread may wait for room, with any overflow policy. The bus asks only if
    /// there is no room.
    static bool mayWait() noexcept { return true; }
    /// How run() spaces its harvests.
    using Pacing = BatchPacing;

    /// The class of the observer, which hears of failed handlers and of changes of the pressure.
    using Observer = BusObserver;

    /// The number of messages that the bus has room for; at least 2. They lie in the bus itself.
    static constexpr std::size_t depth = 4096;

    /// Whether the bus has priorities. If so, each priority has a room of its own and overtakes
    /// lower ones. Otherwise the bus is one ring.
    static constexpr bool priorities = true;

    /// The rooms of low, medium and high priority, in messages. 0 means a share of the depth: a
    /// quarter for low and for high, and the rest for medium. The storage of a room is rounded up
    /// to a power of two. With dropOldest, it is the storage of twice the room.
    static constexpr std::array<std::size_t, priorityCount> rooms{0, 0, 0};

    /// The policy of each priority when its room is full.
    static constexpr std::array<BusOverflow, priorityCount> overflow{
        BusOverflow::reject, BusOverflow::reject, BusOverflow::reject};
    static constexpr std::chrono::nanoseconds blockLimit = std::chrono::milliseconds(1);

    static constexpr PriorityOrder service = PriorityOrder::strict;
    /// Messages of low, medium and high priority in a round of PriorityOrder::weighted.
    static constexpr std::array<std::size_t, priorityCount> weights{1, 4, 16};

    static constexpr bool statistics = true;

    // The fields of the header of each message. A field that is off takes no room.
    static constexpr bool ids = true;
    static constexpr TimeStamp timeStamp = TimeStamp::cached;
    static constexpr bool senders = true;
    static constexpr bool origins = false;
    static constexpr bool traces = false;

    /// The size of the largest message that the list of types may contain, in bytes.
    static constexpr std::size_t maxMessageSize = 4096;

    /// The number of subscriptions for each type of message, and the bytes for the captures of
    /// each.
    static constexpr std::size_t maxHandlers = 16;
    static constexpr std::size_t handlerSize = 56;

    /// How many threads may publish at the same time. With `one`, a publisher needs no atomic
    /// read-modify-write, and debug builds notice a second publisher.
    static constexpr Producers producers = Producers::many;
};

/// A bus without counts.
struct NoStatsBusTraits : FullBusTraits {
    static constexpr bool statistics = false;
};

/// A bus that is one ring: without priorities, counts and header.
struct BareBusTraits : NoStatsBusTraits {
    static constexpr bool priorities = false;
    static constexpr bool ids = false;
    static constexpr TimeStamp timeStamp = TimeStamp::none;
    static constexpr bool senders = false;
};

}  // namespace sluice
