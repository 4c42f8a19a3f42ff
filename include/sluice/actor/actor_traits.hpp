#pragma once

#include <sluice/actor/detail/threads/handler_thread.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// What an active object does after one of its handlers has thrown.
enum class OnFailure : unsigned char {
    goOn,     ///< it counts the failure and handles the next message
    stop,     ///< it stops, and discards what is queued
    restart,  ///< it calls `restart()` of the class and goes on; beyond the limit it stops
};

/// What an object does after a failure.
struct FailureTraits {
    static constexpr OnFailure onFailure = OnFailure::goOn;

    // With OnFailure::restart: the object restarts at most `restartLimit` times in `restartPeriod`.
    // The next failure in the period stops it.
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = std::chrono::seconds(5);
    /// How long the object waits before the first restart of a period. The wait doubles with each
    /// further restart. A closed object does not wait.
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::milliseconds(10);
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::seconds(1);
};

/// What an active object can be told: everything that a bus can be told about the mailbox, and what
/// happens after a failure. MailboxTraits are those of a bus, such as BareBusTraits.
template <class MailboxTraits>
struct BasicActorTraits : MailboxTraits, FailureTraits {
    /// Messages that the mailbox has room for. They lie in the object itself.
    static constexpr std::size_t depth = 256;

    /// Timers that the object can have at a time. They lie in the object itself, each with room for
    /// the largest message. Those that have been cancelled count until the object's thread has seen
    /// it.
    static constexpr std::size_t maxTimers = 0;

    /// How many messages of a type may be posted and not handled; 0 for no limit besides the room.
    /// One more is refused as `full`, whatever the overflow policy.
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 0;

    /// Coroutines of the object that have not ended; 0 for an object without coroutines. See
    /// Coroutine.
    static constexpr std::size_t maxCoroutines = 0;
    /// Whether coroutines may await room in the mailbox, and postFor() of a PooledObject waits for
    /// it.
    static constexpr bool awaitedPosts = false;

    /// Whether handlerTimes() tells how long messages wait and handlers run: two readings of the
    /// clock for each message.
    static constexpr bool handlerTimes = false;

    /// A post waits for room on threads that do not run handlers.
    static bool mayWait() noexcept { return !detail::HandlerThread::isHere(); }

    // Nobody subscribes to a mailbox: its tables of handlers are as small as they can be.
    static constexpr std::size_t maxHandlers = 1;
    static constexpr std::size_t handlerSize = sizeof(void*);
};

/// The usual ones. Derive and redeclare what changes.
struct ActorTraits : BasicActorTraits<FullBusTraits> {};

}  // namespace sluice
