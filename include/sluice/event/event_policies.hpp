#pragma once

/// \file
/// The settings of this module's classes: threading, argument passing, mixins.
///
/// A policy struct may define these members: `Callback`, `Threading`, `Map<Key, Value>`,
/// `QueueList<Item>`, `getEvent(args...)`, `canContinueInvoking(args...)`, `ArgumentPassingMode`,
/// `Mixins`. The members have the names and meanings of eventpp's policies.

#include <sluice/base/platform.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

namespace [[gnu::visibility("default")]] sluice {

struct TagHomo {};
struct TagCallbackList : TagHomo {};
struct TagEventDispatcher : TagHomo {};
struct TagEventQueue : TagHomo {};

struct TagHeter {};
struct TagHeterCallbackList : TagHeter {};
struct TagHeterEventDispatcher : TagHeter {};
struct TagHeterEventQueue : TagHeter {};

// Without threads in the standard library, objects of this module need SingleThreading, and only
// one task at a time may use an object. For tasks that interrupt each other, see
// SLUICE_THREAD_LOCAL.
#if SLUICE_HAS_THREADS
/// The Threading of objects that several threads share, with a user-defined lock type. The
/// parameters after LockType do not affect how threads wait.
template <class LockType, template <class> class AtomicType = std::atomic,
          class ConditionType = std::condition_variable,
          class SharedLockType = std::shared_timed_mutex>
struct GeneralThreading {
    using Mutex = LockType;
    using SharedMutex = SharedLockType;
    template <class T>
    using Atomic = AtomicType<T>;
    using ConditionVariable = ConditionType;
};

/// The default Threading, for objects that several threads share.
///
/// A Threading may define `Wait`, the wait strategy of an EventQueue; the default is Park.
///
/// MultipleThreading uses SpinLocks. If a real-time thread must not wait for milliseconds, use
/// GeneralThreading with a mutex that has priority inheritance.
struct MultipleThreading : GeneralThreading<std::mutex> {};
#else
struct MultipleThreading;
template <class LockType, template <class> class AtomicType = std::atomic,
          class ConditionType = void, class SharedLockType = void>
struct GeneralThreading;
#endif

/// The Threading of objects that one thread at a time uses: no locks, atomic operations or fences.
/// To pass such an object to another thread, synchronise both threads while no call is running.
struct SingleThreading {
    struct Mutex {
        void lock() noexcept {}
        void unlock() noexcept {}
        bool try_lock() noexcept { return true; }
    };
    struct SharedMutex : Mutex {
        // std::shared_mutex's names.
        void lock_shared() noexcept {}                    // NOLINT(readability-identifier-naming)
        void unlock_shared() noexcept {}                  // NOLINT(readability-identifier-naming)
        bool try_lock_shared() noexcept { return true; }  // NOLINT(readability-identifier-naming)
    };

    /// std::atomic's interface on a plain variable.
    template <class T>
    struct Atomic {
        constexpr Atomic() noexcept = default;
        constexpr Atomic(T initial) noexcept : value(initial) {}

        void store(T next, std::memory_order = std::memory_order_seq_cst) noexcept { value = next; }
        T load(std::memory_order = std::memory_order_seq_cst) const noexcept { return value; }
        T exchange(T next, std::memory_order = std::memory_order_seq_cst) noexcept {
            const T previous = value;
            value = next;
            return previous;
        }
        bool compare_exchange_weak(T& expected, T next,
                                   std::memory_order = std::memory_order_seq_cst,
                                   std::memory_order = std::memory_order_seq_cst) noexcept {
            const bool isExpected = value == expected;
            (isExpected ? value : expected) = isExpected ? next : value;
            return isExpected;
        }
        template <class Difference>
        T fetch_add(Difference n, std::memory_order = std::memory_order_seq_cst) noexcept {
            return exchange(static_cast<T>(value + n));
        }
        template <class Difference>
        T fetch_sub(Difference n, std::memory_order = std::memory_order_seq_cst) noexcept {
            return exchange(static_cast<T>(value - n));
        }
        T operator++() noexcept { return ++value; }
        T operator--() noexcept { return --value; }

        T value{};
    };

    struct ConditionVariable {
        // std::condition_variable's names.
        void notify_one() noexcept {}  // NOLINT(readability-identifier-naming)
        void notify_all() noexcept {}  // NOLINT(readability-identifier-naming)
    };
};

// Types for ArgumentPassingMode, which says how dispatch() and enqueue() find the event. The
// default is AutoDetect, or ExcludeEvent in heterogeneous classes.

/// The first argument is the event if dispatch() has one argument more than the prototype. If
/// dispatch() has as many arguments as the prototype, the arguments contain the event.
struct ArgumentPassingAutoDetect {
    enum { canIncludeEventType = true, canExcludeEventType = true };
};

/// The arguments of the prototype contain the event.
struct ArgumentPassingIncludeEvent {
    enum { canIncludeEventType = true, canExcludeEventType = false };
};

/// The event is an additional argument in front of the prototype's arguments.
struct ArgumentPassingExcludeEvent {
    enum { canIncludeEventType = false, canExcludeEventType = true };
};

struct DefaultPolicies {};

/// A dispatcher derives from the first mixin, and each mixin derives from the next one. Destructors
/// of listeners and queued events must not use mixins, because mixins are destroyed first.
template <template <class> class... Mixins>
struct MixinList {};

}  // namespace sluice
