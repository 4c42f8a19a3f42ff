#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// An object's reaction to an exception thrown by a handler.
enum class OnFailure : unsigned char {
    goOn,     ///< counts the failure and handles the next message
    stop,     ///< stops the object and discards its queued messages
    restart,  ///< calls `Derived::restart()`, or stops the object at restartLimit
};

/// The settings that ActiveObject and PooledObject have in common.
struct ObjectTraits {
    static constexpr OnFailure onFailure = OnFailure::goOn;

    // With OnFailure::restart, a failure stops the object if restartLimit restarts have happened
    // within the last restartPeriod.
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = std::chrono::seconds(5);
    /// The delay before a restart. Each earlier restart within restartPeriod doubles the delay.
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::milliseconds(10);
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::seconds(1);

    /// The maximum number of simultaneous timers, which are stored in the object. A cancelled timer
    /// counts until the object's thread has processed the cancellation.
    static constexpr std::size_t maxTimers = 0;

    /// The maximum number of unhandled messages of a type; 0 means no limit. At the limit, posts of
    /// the type return `full`, whatever the overflow policy. Do not combine maxInFlight with
    /// `expiry` or dropOldest.
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 0;

    /// The maximum number of simultaneous coroutines; needs <sluice/actor/coroutine.hpp>.
    static constexpr std::size_t maxCoroutines = 0;
    /// Enables awaitPost() and, in a PooledObject, postFor().
    static constexpr bool awaitedPosts = false;

    /// Enables the measurements of handlerTimes(), which cost two clock readings per message.
    static constexpr bool handlerTimes = false;
};

/// The traits of an active object. MailboxTraits are the traits of a bus, such as BareBusTraits.
template <class MailboxTraits>
struct BasicActorTraits : MailboxTraits, ObjectTraits {
    /// The mailbox quota for messages of high priority: see FullBusTraits::depth.
    static constexpr std::size_t depth = MailboxTraits::priorities ? 128 : 256;

    /// Returns false in handlers, because a handler must not wait for a free slot.
    static bool mayWait() noexcept { return !HandlerThread<StdPlatform>::isHere(); }

    // A mailbox has no subscriptions, so its handler tables are as small as possible.
    static constexpr std::size_t maxHandlers = 1;
    static constexpr std::size_t handlerSize = sizeof(void*);
};

/// The default traits of active objects. To change settings, derive from ActorTraits.
struct ActorTraits : BasicActorTraits<FullBusTraits> {};

}  // namespace sluice
