#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// The reaction of an object to a handler that throws.
enum class OnFailure : unsigned char {
    goOn,     ///< it counts the failure and handles the next message
    stop,     ///< it stops, and discards the queued messages
    restart,  ///< it calls `restart()` of the class; beyond the limit it stops
};

/// The traits of all objects with handlers.
struct ObjectTraits {
    static constexpr OnFailure onFailure = OnFailure::goOn;

    // With OnFailure::restart: a failure stops the object if there have been restartLimit restarts
    // in the last restartPeriod.
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = std::chrono::seconds(5);
    /// The wait before a restart; it doubles with each earlier restart in the period.
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::milliseconds(10);
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::seconds(1);

    /// The largest number of simultaneous timers, stored in the object. A cancelled timer counts
    /// until the object's thread has seen the cancellation, or its running handler has returned.
    static constexpr std::size_t maxTimers = 0;

    /// The largest number of unhandled messages of a type; 0: no limit. Beyond it, posts return
    /// `full` with any overflow policy.
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 0;

    /// The largest number of simultaneous coroutines; needs <sluice/actor/coroutine.hpp>.
    static constexpr std::size_t maxCoroutines = 0;
    /// Whether awaitPost() may await room in the mailbox, and postFor() of a PooledObject wait.
    static constexpr bool awaitedPosts = false;

    /// Whether handlerTimes() measures, which costs two clock reads for each message.
    static constexpr bool handlerTimes = false;
};

/// The traits of an active object: those of a bus, such as BareBusTraits, and those of all objects.
template <class MailboxTraits>
struct BasicActorTraits : MailboxTraits, ObjectTraits {
    /// The room of the mailbox, which lies in the object; see FullBusTraits::depth.
    static constexpr std::size_t depth = MailboxTraits::priorities ? 128 : 256;

    /// A post waits for room only on threads that do not run handlers.
    static bool mayWait() noexcept { return !HandlerThread<StdPlatform>::isHere(); }

    // A mailbox has no subscriptions, so its handler tables are as small as possible.
    static constexpr std::size_t maxHandlers = 1;
    static constexpr std::size_t handlerSize = sizeof(void*);
};

/// The usual traits. Derive from them and redeclare some.
struct ActorTraits : BasicActorTraits<FullBusTraits> {};

}  // namespace sluice
