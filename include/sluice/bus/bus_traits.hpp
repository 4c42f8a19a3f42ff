#pragma once

#include <sluice/bus/priority.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/wait/harvest_pacing.hpp>
#include <sluice/wait/park.hpp>

#include <array>
#include <chrono>
#include <cstddef>

namespace sluice {

/// Where the time stamp of a message comes from.
enum class TimeStamp : unsigned char {
    none,    ///< there is none, and it takes no room
    cached,  ///< the time at which the consumer last looked for messages, or that of the
             ///< publication when it looks seldom or sleeps: costs one load while messages flow
    exact,   ///< the time of the publication: costs a reading of the clock
};

/// What happens to a message for which there is no room.
enum class BusOverflow : unsigned char {
    reject,      ///< the publisher is told
    block,       ///< the publisher waits for room; not in a handler, which would wait for itself:
                 ///< there it is told
    blockFor,    ///< the same, but it waits for at most Traits::blockLimit
    dropOldest,  ///< the oldest message of the same priority makes room, and is counted
    keepLatest,  ///< the oldest message of the same priority and type makes room, and is counted:
                 ///< of what there is no room for, the latest stays
};

/// In which order the priorities are served.
enum class Service : unsigned char {
    strict,    ///< a message waits for all of a higher priority
    weighted,  ///< each priority gets its weight of every round, so that none waits for ever
};

enum class Producers : unsigned char { one, many };

/// A bus without an observer. Others have one or both of these members, which the bus calls on the
/// thread where the thing happened, never under a lock:
///
///     void handlerFailed(std::size_t typeIndex, std::exception_ptr) noexcept;
///     void pressureChanged(Pressure before, Pressure now) noexcept;
///
/// Calls of several threads may overlap, and then be made in another order than the changes:
/// pressure() tells what holds.
struct NoBusObserver {};

/// What a bus can be told, besides what QueueTraits has. Derive and redeclare what changes;
/// different traits are different types.
struct FullBusTraits : QueueTraits {
    /// How publishers wait for room and consumers for messages.
    using Wait = Park;
    /// How run() spaces its harvests.
    using Pacing = HarvestPacing;

    /// Who is told of failed handlers and of changes of the pressure.
    using Observer = NoBusObserver;

    /// Messages that the bus has room for, from 2. They lie in the bus itself.
    static constexpr std::size_t depth = 4096;

    /// With priorities, a higher one overtakes, and admission keeps room for it. Without, the bus
    /// is one ring that is filled to the brim.
    static constexpr bool priorities = true;

    /// How much of the depth may be in use, in percent, for a message of low, medium and high
    /// priority to be let in.
    static constexpr std::array<std::size_t, priorityCount> limits{60, 80, 99};

    /// What happens beyond that, to each priority.
    static constexpr std::array<BusOverflow, priorityCount> overflow{
        BusOverflow::reject, BusOverflow::reject, BusOverflow::reject};
    static constexpr std::chrono::nanoseconds blockLimit = std::chrono::milliseconds(1);

    static constexpr Service service = Service::strict;
    /// Messages of low, medium and high priority in a round of the weighted service.
    static constexpr std::array<std::size_t, priorityCount> weights{1, 4, 16};

    static constexpr bool statistics = true;

    // What the header of each message holds. What is off takes no room.
    static constexpr bool ids = true;
    static constexpr TimeStamp timeStamp = TimeStamp::cached;
    static constexpr bool senders = true;
    static constexpr bool origins = false;
    static constexpr bool traces = false;

    /// The largest message that the list of types may contain.
    static constexpr std::size_t maxMessageSize = 4096;

    /// Subscriptions for each type of message, and room for the captures of each.
    static constexpr std::size_t maxHandlers = 16;
    static constexpr std::size_t handlerSize = 48;

    /// How many threads may publish at the same time other than through lanes. One publishes
    /// without an atomic read-modify-write, and debug builds notice a second one.
    static constexpr Producers producers = Producers::many;

    /// How many producers may have a lane of their own at the same time (see Bus::producer()), and
    /// how many messages each has room for. The slots lie in the bus. Needs priorities, and no
    /// overflow policy that drops messages.
    static constexpr std::size_t lanes = 0;
    static constexpr std::size_t laneDepth = 1024;
};

/// Everything but the accounts.
struct NoStatsBusTraits : FullBusTraits {
    static constexpr bool statistics = false;
};

/// The ring alone: no priorities, hence no admission, no accounts, and no header.
struct BareBusTraits : NoStatsBusTraits {
    static constexpr bool priorities = false;
    static constexpr bool ids = false;
    static constexpr TimeStamp timeStamp = TimeStamp::none;
    static constexpr bool senders = false;
};

}  // namespace sluice
