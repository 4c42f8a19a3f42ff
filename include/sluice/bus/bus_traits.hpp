#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/wait/park.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace sluice {

/// The source of a message's time stamp.
enum class TimeStamp : unsigned char {
    none,    ///< the header has no time stamp
    cached,  ///< the consumer's last clock reading; like `exact` if that reading is old
    exact,   ///< the time of the publication; costs a clock reading
};

/// The order in which the consumer serves the priorities.
enum class PriorityOrder : unsigned char {
    strict,    ///< higher priorities first
    weighted,  ///< each round serves Traits::weights messages of each priority, so none starves
};

/// The number of threads that may publish simultaneously.
enum class Producers : unsigned char { one, many };

/// Receives notifications of a bus. Derive a class and redeclare the functions you need:
///
///     struct Watcher : sluice::BusObserver {
///         void pressureChanged(Pressure before, Pressure now) noexcept;
///     };
///
/// The bus calls its observer without a lock, on the thread that notices the event. Calls from
/// several threads may overlap and arrive out of order; Bus::pressure() returns the current level.
/// In process(), the consumer checks the fill level only after the first message, after every 64th
/// message and at the end. Observers must not throw.
struct BusObserver {
    static void handlerFailed(std::size_t /*typeIndex*/, const std::exception_ptr&) noexcept {}
    /// subscribe() failed because the type already has Traits::maxHandlers handlers.
    static void subscriptionRefused(std::size_t /*typeIndex*/) noexcept {}
    static void pressureChanged(Pressure /*before*/, Pressure /*now*/) noexcept {}
};

enum class TraceStep : unsigned char { published, refused, dropped, begins, ends };

/// The default trace, which records nothing: see FlightTrace.
struct NoTrace {
    static void record(TraceStep, std::size_t /*typeIndex*/, Priority, std::uint64_t) noexcept {}
};

/// The settings of a bus. QueueTraits has further settings.
struct FullBusTraits : QueueTraits {
    using Wait = Park;  ///< how the consumer waits for messages, and publishers for free slots
    /// Returns false if the calling thread must not wait for a free slot.
    static bool mayWait() noexcept { return true; }
    using Pacing = BatchPacing;  ///< how run() paces its batches
    using Observer = BusObserver;
    using Trace = NoTrace;

    /// The quota of high priority, in messages; at least 2. By default, medium priority has 80 % of
    /// this quota, and low priority 60 %. If `depth` is a power of two, a bus has 3 * depth slots.
    static constexpr std::size_t depth = 2048;

    /// If false, the bus has a single ring, and all messages have medium priority.
    static constexpr bool priorities = true;

    /// The quotas of low, medium and high priority, in messages; 0 selects the default of roomOf().
    /// The number of slots is rounded up to a power of two, and doubled for dropOldest.
    static constexpr std::array<std::size_t, priorityCount> rooms{0, 0, 0};

    /// The overflow policies of low, medium and high priority.
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::reject, Overflow::reject, Overflow::reject};
    /// The longest wait of Overflow::block; publishAll() may wait several times. By default, there
    /// is no limit, and publish() does not wait in a handler of another bus.
    static constexpr std::chrono::nanoseconds blockLimit = std::chrono::nanoseconds::max();

    static constexpr PriorityOrder service = PriorityOrder::strict;
    /// The number of low, medium and high messages in each round of PriorityOrder::weighted.
    static constexpr std::array<std::size_t, priorityCount> weights{1, 4, 16};

    static constexpr bool statistics = true;

    // The fields of each message's header. A disabled field takes no space.
    static constexpr bool ids = true;
    static constexpr TimeStamp timeStamp = TimeStamp::cached;
    static constexpr bool senders = true;
    static constexpr bool origins = false;
    static constexpr bool traces = false;

    /// Whether messages may expire: see ExpiringOptions.
    static constexpr bool expiry = false;

    static constexpr std::size_t maxMessageSize = 4096;  ///< the limit for sizeof a message type

    /// The maximum number of handlers per message type, and the maximum size of a handler in bytes.
    static constexpr std::size_t maxHandlers = 16;
    static constexpr std::size_t handlerSize = 56;

    /// With Producers::one, publish() needs no atomic read-modify-write operation, and debug builds
    /// detect a second publisher.
    static constexpr Producers producers = Producers::many;
};

struct NoStatsBusTraits : FullBusTraits {
    static constexpr bool statistics = false;
};

/// Traits of a bus without priorities, statistics and message headers.
struct BareBusTraits : NoStatsBusTraits {
    static constexpr bool priorities = false;
    static constexpr bool ids = false;
    static constexpr TimeStamp timeStamp = TimeStamp::none;
    static constexpr bool senders = false;
};

namespace detail {

template <class Traits>
constexpr bool hasPolicy(Overflow policy) noexcept {
    return Traits::overflow[0] == policy || Traits::overflow[1] == policy ||
           Traits::overflow[2] == policy;
}

template <class Traits>
constexpr std::size_t roomOf(Priority priority) noexcept {
    if (!Traits::priorities) {
        return priority == Priority::medium ? Traits::depth : 0;
    }
    const std::size_t chosen = Traits::rooms[indexOf(priority)];
    return chosen != 0 ? chosen : sluice::roomOf(Traits::depth, priority);
}

template <class Traits>
constexpr std::size_t allRooms() noexcept {
    return roomOf<Traits>(Priority::low) + roomOf<Traits>(Priority::medium) +
           roomOf<Traits>(Priority::high);
}

/// The default for `isOver` parameters.
struct Never {
    constexpr bool operator()() const noexcept { return false; }
};

/// Replaces a timeout: the overflow policy says how long to wait.
struct WaitByPolicy {};

/// The deadline of a wait for a free slot; time_point::min() means no wait.
template <class Traits, class Clock>
typename Clock::time_point roomDeadline(WaitByPolicy, Priority priority) {
    return Traits::overflow[indexOf(priority)] == Overflow::block
               ? deadlineAfter<Clock>(Traits::blockLimit)
               : Clock::time_point::min();
}
template <class Traits, class Clock, class Rep, class Period>
typename Clock::time_point roomDeadline(std::chrono::duration<Rep, Period> timeout, Priority) {
    return timeout > timeout.zero() ? deadlineAfter<Clock>(timeout) : Clock::time_point::min();
}

template <class Observer, class = void>
inline constexpr bool canObserve = false;
template <class Observer>
inline constexpr bool
    canObserve<Observer, std::void_t<decltype(std::declval<Observer&>().handlerFailed(
                                         std::size_t{}, std::declval<std::exception_ptr>())),
                                     decltype(std::declval<Observer&>().pressureChanged(
                                         Pressure::normal, Pressure::normal))>> = true;

/// Fails to compile for invalid traits. A function, because a failed assertion in a class would
/// cause further errors.
template <class MessageList, class Traits>
constexpr bool areChecked() noexcept {
    static_assert(Traits::depth >= 2, "the depth of a bus must be at least 2");
    static_assert(MessageList::maxSize <= Traits::maxMessageSize,
                  "a message is larger than maxMessageSize of the traits: carry large contents "
                  "through a BufferPool, or raise the limit");
    static_assert(Traits::weights[0] != 0 && Traits::weights[1] != 0 && Traits::weights[2] != 0,
                  "weights of the traits must be at least 1");
    static_assert(Traits::maxHandlers != 0, "maxHandlers of the traits must be at least 1");
    static_assert(Traits::blockLimit > std::chrono::nanoseconds(0),
                  "blockLimit of the traits must be positive: Overflow::reject does not wait");
    constexpr bool isDropping = hasPolicy<Traits>(Overflow::dropOldest);
    static_assert(Traits::priorities || !isDropping,
                  "a bus without priorities is a bare ring, which cannot drop messages");
    static_assert(!isDropping || Traits::producers == Producers::many,
                  "dropOldest needs Producers::many: a publisher that drops is a second consumer");
    static_assert(!isDropping || MessageList::areNothrowMovable,
                  "dropOldest moves a message out of the bus before its handler runs: the "
                  "messages must have a move constructor that is noexcept");
    using Observer = typename Traits::Observer;
    static_assert(std::is_base_of_v<BusObserver, Observer>,
                  "the Observer of the traits must derive from BusObserver");
    static_assert(!std::is_base_of_v<BusObserver, Observer> || canObserve<Observer>,
                  "the Observer of the traits hides a member of BusObserver behind one with other "
                  "parameters");
    return true;
}

}  // namespace detail

}  // namespace sluice
