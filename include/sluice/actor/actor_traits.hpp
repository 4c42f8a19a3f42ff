#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// The action of an object after a handler has thrown.
enum class OnFailure : unsigned char {
    goOn,     ///< it counts the failure and handles the next message
    stop,     ///< it stops, and discards the queued messages
    restart,  ///< it calls `restart()` of the class and goes on; beyond the limit it stops
};

/// The traits about failures.
struct FailureTraits {
    static constexpr OnFailure onFailure = OnFailure::goOn;

    // With OnFailure::restart: the object restarts at most `restartLimit` times in `restartPeriod`.
    // The next failure in the period stops it.
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = std::chrono::seconds(5);
    /// The wait before the first restart of a period. The wait doubles with each further restart. A
    /// closed object does not wait.
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::milliseconds(10);
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::seconds(1);
};

/// The traits of an active object: all traits of a bus, for the mailbox, and those about failures.
/// MailboxTraits are the traits of a bus, such as BareBusTraits.
template <class MailboxTraits>
struct BasicActorTraits : MailboxTraits, FailureTraits {
    /// The room of the mailbox, in messages. It lies in the object.
    static constexpr std::size_t depth = 256;

    /// The number of timers that the object can have at a time. They lie in the object, and there
    /// is room for one more; each has room for the largest message. A cancelled timer counts until
    /// the object's thread has seen the cancellation. A periodic timer that its own handler cancels
    /// counts until the handler has returned.
    static constexpr std::size_t maxTimers = 0;

    /// The number of messages of a type that may be posted and not handled; 0: no limit. At the
    /// limit, the next message of this type is refused as `full`, with any overflow policy.
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 0;

    /// The number of coroutines that the object can have at a time; 0: no coroutines. See
    /// Coroutine.
    static constexpr std::size_t maxCoroutines = 0;
    /// Whether coroutines may await room in the mailbox. For a PooledObject, also whether postFor()
    /// may wait for room.
    static constexpr bool awaitedPosts = false;

    /// Whether handlerTimes() has waiting times and running times. It costs two readings of the
    /// clock for each message.
    static constexpr bool handlerTimes = false;

    /// A post waits for room only on threads that do not run handlers.
    static bool mayWait() noexcept { return !HandlerThread<StdPlatform>::isHere(); }

    // No part of a program subscribes to a mailbox, so its tables of handlers are as small as
    // possible.
    static constexpr std::size_t maxHandlers = 1;
    static constexpr std::size_t handlerSize = sizeof(void*);
};

/// The usual traits. Derive from them and redeclare some.
struct ActorTraits : BasicActorTraits<FullBusTraits> {};

}  // namespace sluice
