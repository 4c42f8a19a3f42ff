#pragma once

/// \file
/// EventCount: sleeping until a condition on somebody else's lock-free data becomes true.
///
/// Purpose: what a condition variable is to a mutex, an event count is to an algorithm without one.
///
/// Use it to let a thread sleep until a queue is no longer empty. Use Park, which spins first,
/// unless you need the steps apart. Use a condition variable when the data has a mutex anyway.
///
/// Who may call what: any thread, any member. Several may wait at once; notifyAll() wakes them all.
///
/// Progress: notifyAll() never waits for a waiter; a stopped waiter delays nobody. A stopped
/// notifier delays the waiters that it was about to wake until the next notifier comes, which wakes
/// them. (With CondVarParker a notifier takes a mutex when somebody sleeps.)
///
/// Memory promise: what a thread wrote before notifyAll() is visible to a waiter whose condition
/// saw it. The event count itself only guarantees that the condition is looked at again: either the
/// waiter's check sees the change, or the notifier sees the waiter.
///
///     waiter                                  notifier
///     key = prepareWait();                    make the condition true;
///     if (condition) cancelWait(key);         notifyAll();
///     else wait(key);
///
/// No allocation; nothing throws. Shutdown: nobody may be waiting when it is destroyed.
///
/// Origin: D. Vyukov's eventcount; the layout (count of waiters and epoch in one word) follows
/// folly::EventCount. New here: the fence of the notifier is asymmetric, and a notifier that has
/// woken the waiters takes them off the count, so that the notifications between a wake-up and the
/// waiter's first instruction make no further system calls.
///
/// Invariants: waiters(state) is the number of threads that announced themselves in the current
/// epoch and were not cancelled, plus the number of threads that the notifier of this epoch found
/// and has not woken yet. Only a notification that finds waiters begins an epoch. Only the notifier
/// that began the current epoch takes waiters of earlier epochs off, after it has woken them. 2^32
/// notifications while a thread is between prepareWait and its first look at the epoch would be
/// taken for none.
///
/// Edges: E1 announce: fetch_add in prepareWait, heavy fence, condition read -- against --
/// condition written, light fence, load in notifyAll: at least one of the two reads sees the
/// other's write. E2 wake: the change of the epoch in notifyAll -> the load in wait.
///
/// Tests: tests/unit/wait/event_count_test.cpp, tests/stress/park_stress_test.cpp.

#include <sluice/base/platform.hpp>
#include <sluice/wait/detail/parker.hpp>

#include <chrono>
#include <cstdint>

namespace sluice {

template <class Platform = StdPlatform, class Parker = DefaultParker>
class BasicEventCount {
public:
    using Clock = typename Platform::Clock;

    /// Names the moment a waiter announced itself.
    class Key {
        friend class BasicEventCount;
        explicit Key(std::uint32_t epoch) noexcept : epoch_(epoch) {}
        std::uint32_t epoch_;
    };

    constexpr BasicEventCount() noexcept = default;
    BasicEventCount(const BasicEventCount&) = delete;
    BasicEventCount& operator=(const BasicEventCount&) = delete;

    /// Announces a waiter. Exactly one of wait, waitUntil and cancelWait must follow, after the
    /// condition has been checked once more. Costs a heavy fence (microseconds).
    [[nodiscard]] Key prepareWait() noexcept {
        // Relaxed: the heavy fence orders the announcement before the check (E1).
        const std::uint64_t before = state_.fetch_add(oneWaiter, std::memory_order_relaxed);
        Platform::Fence::heavy();
        return Key{epochOf(before)};
    }

    /// Takes an announcement back: the condition turned out to be true.
    void cancelWait(Key key) noexcept {
        // Relaxed: this changes only the count. In a later epoch a notifier does it.
        std::uint64_t seen = state_.load(std::memory_order_relaxed);
        while (epochOf(seen) == key.epoch_ &&
               !state_.compare_exchange_weak(seen, seen - oneWaiter, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        }
    }

    /// Sleeps until a notification that follows prepareWait.
    void wait(Key key) noexcept {
        while (!notified(key)) {
            parker_.park(state_, [&]() noexcept { return !notified(key); });
        }
    }

    /// The same with a limit; false when `deadline` passed without a notification.
    [[nodiscard]] bool waitUntil(Key key, typename Clock::time_point deadline) noexcept {
        while (!notified(key)) {
            const auto now = Clock::now();
            if (now >= deadline) {
                cancelWait(key);
                return notified(key);
            }
            parker_.parkFor(
                state_, [&]() noexcept { return !notified(key); }, deadline - now);
        }
        return true;
    }

    /// The whole recipe: returns as soon as `ready` does.
    template <class Ready>
    void await(Ready&& ready) {
        while (!readyOrSlept(ready, [this](Key key) { return wait(key), true; })) {
        }
    }

    /// The same with a limit: false when `deadline` passed first. `ready` is called at least once.
    template <class Ready>
    [[nodiscard]] bool awaitUntil(Ready&& ready, typename Clock::time_point deadline) {
        if (Clock::now() >= deadline) {
            return ready();
        }
        bool inTime = true;
        while (!readyOrSlept(ready, [&](Key key) { return inTime = waitUntil(key, deadline); })) {
            if (!inTime) {
                return ready();
            }
        }
        return true;
    }

    /// To be called after the condition has been made true. Wakes every waiter.
    void notifyAll() noexcept {
        Platform::Fence::light();
        // Relaxed: E1's fences order this load after the change of the condition.
        if (waitersOf(state_.load(std::memory_order_relaxed)) != 0) {
            wake();
        }
    }

private:
    static constexpr std::uint64_t oneWaiter = 1;
    static constexpr std::uint64_t oneEpoch = std::uint64_t{1} << 32U;

    static std::uint32_t epochOf(std::uint64_t state) noexcept {
        return static_cast<std::uint32_t>(state >> 32U);
    }
    static std::uint32_t waitersOf(std::uint64_t state) noexcept {
        return static_cast<std::uint32_t>(state);
    }

    bool notified(Key key) const noexcept {
        return epochOf(state_.load(std::memory_order_acquire)) != key.epoch_;  // E2 wake
    }

    /// Apart, so that a notification that finds nobody is short enough to be compiled into its
    /// caller.
    [[gnu::noinline]] void wake() noexcept {
        // E2 wake. One notification serves all waiters that are counted.
        const std::uint64_t begun =
            state_.fetch_add(oneEpoch, std::memory_order_acq_rel) + oneEpoch;
        parker_.unparkAll(state_);
        takeOff(begun);
    }

    /// Takes the waiters off that were counted when `begun` became the state, and are awake now. If
    /// a later notifier has begun another epoch, that notifier has counted them too, and takes them
    /// off.
    void takeOff(std::uint64_t begun) noexcept {
        // Relaxed: this changes only the count.
        std::uint64_t seen = begun;
        while (epochOf(seen) == epochOf(begun) &&
               !state_.compare_exchange_weak(seen, seen - waitersOf(begun),
                                             std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        }
    }

    /// Takes the announcement back when the condition throws.
    struct Announcement {
        BasicEventCount& events;
        Key key;
        bool open = true;
        ~Announcement() {
            if (open) {
                events.cancelWait(key);
            }
        }
    };

    template <class Ready, class Sleep>
    bool readyOrSlept(Ready& ready, Sleep sleep) {
        Announcement announcement{*this, prepareWait()};
        if (ready()) {
            return true;
        }
        announcement.open = false;
        sleep(announcement.key);
        // Asked before the next announcement, which would cost the thread that was woken another
        // heavy fence before it goes to work.
        return ready();
    }

    // The high half is the epoch, the low half the count of waiters.
    typename Platform::template Atomic<std::uint64_t> state_{0};
    Parker parker_;
};

using EventCount = BasicEventCount<>;

}  // namespace sluice
