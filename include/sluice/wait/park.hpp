#pragma once

#include <sluice/base/platform.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sluice/wait/portable_parkers.hpp>
#endif

namespace sluice {

/// Returns `now + atMost`, limited to the range from `now` to the clock's last time point.
template <class Clock, class Ticks, class Rep, class Period>
std::chrono::time_point<Clock, Ticks> deadlineAfter(std::chrono::time_point<Clock, Ticks> now,
                                                    std::chrono::duration<Rep, Period> atMost) {
    if (!(atMost > atMost.zero())) {
        return now;
    }
    // Seconds are floating-point, because the longest durations overflow the clock's integers.
    using Seconds = std::chrono::duration<double>;
    using TimePoint = std::chrono::time_point<Clock, Ticks>;
    constexpr auto last = TimePoint::max();
    // max() prevents an overflow of `last - now` if `now` is before the epoch. The factor allows
    // for rounding errors.
    const Seconds left = 0.999999 * Seconds(last - std::max(now, TimePoint()));
    return Seconds(atMost) < left ? now + std::chrono::ceil<Ticks>(atMost) : last;
}

template <class Clock, class Rep, class Period>
typename Clock::time_point deadlineAfter(std::chrono::duration<Rep, Period> atMost) {
    return deadlineAfter(Clock::now(), atMost);
}

namespace detail {

// A parker lets a thread sleep until the high half of a Park's atomic word changes. park(word,
// stillWaiting, atMost) sleeps only if stillWaiting(value) is true for the word's value. park() may
// return at any time. A notifier changes the word's high half so that stillWaiting(value) becomes
// false, and then calls unparkAll(word) or unparkOne(word).

#if defined(__linux__)

/// A stateless parker that sleeps on the high half of a 64-bit atomic.
class FutexParker {
public:
    template <class StillWaiting>
    void park(const std::atomic<std::uint64_t>& word, StillWaiting stillWaiting,
              std::chrono::nanoseconds atMost) noexcept {
        constexpr int second = 1'000'000'000;
        timespec timeout{};
        timeout.tv_sec = static_cast<decltype(timeout.tv_sec)>(atMost.count() / second);
        timeout.tv_nsec = static_cast<decltype(timeout.tv_nsec)>(atMost.count() % second);
        // The kernel suspends the thread only if the high half still equals `high`.
        const std::uint64_t seen = word.load(std::memory_order_acquire);
        const auto high = static_cast<std::uint32_t>(seen >> 32U);
        if (stillWaiting(seen)) {
            ::syscall(waitCall, highHalf(word), FUTEX_WAIT_PRIVATE, high, &timeout, nullptr, 0);
        }
    }

    void unparkAll(const std::atomic<std::uint64_t>& word) noexcept { wake(word, INT32_MAX); }
    void unparkOne(const std::atomic<std::uint64_t>& word) noexcept { wake(word, 1); }

private:
    // In a 32-bit program with a 64-bit time_t, SYS_futex would misread the timeout.
#if defined(SYS_futex_time64)
    static constexpr long waitCall = sizeof(std::time_t) > sizeof(long) ? SYS_futex_time64
                                                                        : SYS_futex;
#else
    static constexpr long waitCall = SYS_futex;
#endif

    static void wake(const std::atomic<std::uint64_t>& word, std::int32_t most) noexcept {
        ::syscall(SYS_futex, highHalf(word), FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
    }

    static const void* highHalf(const std::atomic<std::uint64_t>& word) noexcept {
        static_assert(sizeof(word) == 8, "the futex needs the bare word");
        const auto* bytes = reinterpret_cast<const unsigned char*>(&word);
        return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes + 4 : bytes;
    }
};

#endif

}  // namespace detail

#if defined(__linux__)
using DefaultParker = detail::FutexParker;
#elif defined(_WIN32)
using DefaultParker = detail::AddressParker;
#elif SLUICE_HAS_THREADS
using DefaultParker = detail::CondVarParker;
#else
using DefaultParker = detail::NoParker;
#endif

namespace detail {

// True if Wait has a notifyOne() that accepts arguments of the types IsDue.
template <class Wait, class = void, class... IsDue>
inline constexpr bool canNotifyOne = false;
template <class Wait, class... IsDue>
inline constexpr bool canNotifyOne<
    Wait, std::void_t<decltype(std::declval<Wait&>().notifyOne(std::declval<IsDue>()...))>,
    IsDue...> = true;

}  // namespace detail

/// Wakes one of several threads that wait for the same condition. If `Wait` has no notifyOne(), all
/// threads are woken.
template <class Wait, class... IsDue>
void notifyOneOf(Wait& wait, IsDue... isDue) noexcept {
    if constexpr (detail::canNotifyOne<Wait, void, IsDue...>) {
        wait.notifyOne(isDue...);
    } else if constexpr (detail::canNotifyOne<Wait>) {
        wait.notifyOne();
    } else {
        wait.notifyAll();
    }
}

/// An event count: lets threads sleep until a condition on lock-free data becomes true. Park is the
/// default wait strategy.
///
///     sluice::Park park;
///     park.wait([&] { return isReady.load(); });  // one thread
///     isReady.store(true);                        // another thread
///     park.notifyAll();
///
/// A wait first spins, then yields a few times, and then sleeps in the kernel until notified. Use
/// BusySpin or SpinThenYield if a kernel wake-up of some microseconds is too slow. Use a condition
/// variable if a mutex protects the data.
///
/// Thread safety: any thread may call any member. No thread may wait when the Park is destroyed.
/// notifyAll() wakes all sleeping threads; notifyOne() wakes one of them. Use notifyOne() only if
/// all threads wait for the same condition, and each change lets only one thread continue. A woken
/// thread that leaves work for another thread must call notifyOne(). If a thread is preempted in a
/// notification, waiters may stay asleep until the thread continues or another thread notifies. A
/// waiter that sees a notifier's change also sees the notifier's earlier writes.
///
/// Errors: an exception thrown by `ready` ends the wait and propagates.
///
/// Performance: a notification without sleeping threads costs a load and a light fence. The first
/// thread to sleep runs a heavy fence. After 8 consecutive waits that had to sleep, only every 16th
/// wait polls before its sleep, until a poll succeeds. Park never allocates.
template <class Platform = StdPlatform, class Parker = DefaultParker>
class BasicPark {
public:
    using Clock = typename Platform::Clock;

    struct Options {
        /// The number of polls followed by a pause instruction.
        std::uint32_t spins = 64;
        /// The number of polls followed by a yield to other threads, after the `spins` polls.
        std::uint32_t yields = 8;
    };

    constexpr BasicPark() noexcept : BasicPark(Options{}) {}
    constexpr explicit BasicPark(const Options& options) noexcept : options_(options) {}

    template <class Ready>
    void wait(Ready&& ready) {
        (void)(readyAwake(ready) || readyAsleep(ready, never));
    }

    /// Returns false if `deadline` passes before `ready` returns true. Calls `ready` at least once,
    /// and exactly once if the call begins after `deadline`.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        if (Clock::now() >= deadline) {
            return ready();
        }
        return readyAwake(ready) || readyAsleep(ready, deadline);
    }

    SLUICE_ALWAYS_INLINE void notifyAll() noexcept {
        if (hasAnybody()) {
            wakeAll();
        }
    }

    /// Wakes one sleeping thread unless isDue() returns false. Calls isDue() only if threads may be
    /// asleep.
    template <class... IsDue>
    void notifyOne(IsDue... isDue) noexcept {
        if (hasAnybody()) {
            wakeOne(isDue...);
        }
    }

protected:
    // The steps of a wait, protected for tests. A waiter calls announce(), checks its condition
    // again, and then calls either sleepUntil() or cancelWait().

    using Epoch = std::uint32_t;

    [[nodiscard]] Epoch announce() noexcept {
        const State before = state_.fetch_add(oneWaiter, std::memory_order_acquire);  // E3 join
        const Epoch epoch = epochOf(before);
        if (!isAnnounced(before)) {
            Platform::Fence::heavy();  // E1 announce
            markAnnounced(epoch);
        }
        return epoch;
    }

    /// Returns true if the waiter had been notified.
    bool cancelWait(Epoch epoch) noexcept { return leave(epoch, Leaving::withoutPermit); }

    /// Returns false if `deadline` passes before a notification.
    [[nodiscard]] bool sleepUntil(Epoch epoch, typename Clock::time_point deadline) noexcept {
        std::chrono::nanoseconds left = longestSleep;
        while (!leave(epoch, Leaving::withPermit)) {
            if (deadline != never) {
                const auto now = Clock::now();
                if (now >= deadline) {
                    return cancelWait(epoch);
                }
                using std::chrono::nanoseconds;
                left = deadline - now < longestSleep
                           ? std::chrono::duration_cast<nanoseconds>(deadline - now)
                           : longestSleep;
            }
            parker_.park(
                state_, [&](State seen) noexcept { return !isNotified(epoch, seen); }, left);
        }
        return true;
    }

private:
    // Happens-before edges (proof: docs/algorithms/parking.md):
    //   E1 announce: wait <-> notify.
    //   E2 wake: notify -> wait.
    //   E3 join: wait/notify -> wait.
    // Invariant: permits(state) <= waiters(state).

    static constexpr auto never = Clock::time_point::max();
    static constexpr std::chrono::hours longestSleep{24};

    // The bits of a Park's state, lowest first: isWaking, isAnnounced, number of waiters, permits,
    // epoch. Waiters sleep on the high half of the state, which holds the permits and the epoch.
    using State = std::uint64_t;
    static constexpr State waking = 1;
    static constexpr State announced = 2;
    static constexpr State oneWaiter = 4;
    static constexpr State onePermit = State{1} << 32U;
    static constexpr State mostPermits = (State{1} << 12U) - 1;
    static constexpr State oneEpoch = State{1} << 44U;

    static Epoch epochOf(State state) noexcept { return static_cast<Epoch>(state / oneEpoch); }
    static State permitsOf(State state) noexcept { return state / onePermit & mostPermits; }
    static State waitersOf(State state) noexcept { return state % onePermit / oneWaiter; }
    static bool isWaking(State state) noexcept { return (state & waking) != 0; }
    static bool isAnnounced(State state) noexcept { return (state & announced) != 0; }

    static bool isNotified(Epoch epoch, State seen) noexcept {
        return epochOf(seen) != epoch || permitsOf(seen) != 0;
    }

    /// Lets later waiters of `epoch` skip the heavy fence.
    void markAnnounced(Epoch epoch) noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // retried
        while (epochOf(seen) == epoch && !isAnnounced(seen) &&
               !state_.compare_exchange_weak(seen, seen | announced, std::memory_order_release,
                                             std::memory_order_relaxed)) {  // E3 join
        }
    }

    enum class Leaving { withPermit, withoutPermit };

    /// Returns true if the waiter was notified. `withPermit` changes nothing before a notification.
    /// `withoutPermit` ends any wait, and takes a permit if there are as many permits as waiters.
    bool leave(Epoch epoch, Leaving how) noexcept {
        State seen = state_.load(std::memory_order_acquire);  // E2 wake
        for (;;) {
            if (epochOf(seen) != epoch) {
                return true;
            }
            const State permits = permitsOf(seen);
            const bool takesPermit =
                how == Leaving::withPermit ? permits != 0 : permits == waitersOf(seen);
            if (!takesPermit && how == Leaving::withPermit) {
                return false;
            }
            State left = seen - oneWaiter - (takesPermit ? onePermit : 0);
            if (waitersOf(left) == 0) {
                left &= ~announced;
            }
            if (state_.compare_exchange_weak(seen, left, std::memory_order_acquire,
                                             std::memory_order_acquire)) {  // E2 wake
                return takesPermit;
            }
        }
    }

    SLUICE_ALWAYS_INLINE bool hasAnybody() const noexcept {
        Platform::Fence::light();  // E1 announce
        return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed)) != 0;  // by E1
    }

    // Out of line, so that the inlined part of a notification stays short.

    [[gnu::noinline]] void wakeOne() noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // retried
        bool isServed = false;
        do {
            const State permits = permitsOf(seen);
            if (isWaking(seen) || permits == mostPermits) {
                wakeAll();
                return;
            }
            isServed = permits == waitersOf(seen);
            // This exchange must release (E2, E3) even if it stores the old value.
        } while (!state_.compare_exchange_weak(seen, isServed ? seen : seen + onePermit + waking,
                                               std::memory_order_release,
                                               std::memory_order_relaxed));
        if (isServed) {
            return;
        }
        parker_.unparkOne(state_);
        endWaking(epochOf(seen));
    }

    template <class IsDue>
    [[gnu::noinline]] void wakeOne(IsDue isDue) noexcept {
        if (isDue()) {
            wakeOne();
        }
    }

    [[gnu::noinline]] void wakeAll() noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // retried
        do {
            if (static_cast<std::uint32_t>(seen) == 0) {
                return;
            }
        } while (!state_.compare_exchange_weak(  // E2 wake
            seen, nextEpoch(seen) + waking, std::memory_order_release, std::memory_order_relaxed));
        parker_.unparkAll(state_);
        endWaking(epochOf(nextEpoch(seen)));
    }

    static State nextEpoch(State state) noexcept { return (state / oneEpoch + 1) * oneEpoch; }

    /// Clears this notifier's `waking` mark after the kernel call, unless a newer epoch has begun.
    void endWaking(Epoch epoch) noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // value only
        while (epochOf(seen) == epoch &&
               !state_.compare_exchange_weak(seen, seen & ~waking, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        }
    }

    /// If ready() throws, cancels a wait that has not slept, or wakes another thread after a sleep.
    struct Announcement {
        BasicPark& park;
        Epoch epoch;
        enum class Stage { announced, awake, over } stage = Stage::announced;
        ~Announcement() {
            if (stage == Stage::announced) {
                (void)park.cancelWait(epoch);
            } else if (stage == Stage::awake) {
                park.notifyOne();
            }
        }
    };

    /// After a sleep, calls ready() before the next announce(), which may cost a heavy fence.
    template <class Ready>
    bool readyAsleep(Ready& ready, typename Clock::time_point deadline) {
        using Stage = typename Announcement::Stage;
        for (bool inTime = true; inTime;) {
            Announcement announcement{*this, announce()};
            if (ready()) {
                return true;
            }
            announcement.stage = Stage::over;
            inTime = sleepUntil(announcement.epoch, deadline);
            announcement.stage = Stage::awake;
            const bool isReady = ready();
            announcement.stage = Stage::over;
            if (isReady) {
                return true;
            }
        }
        return false;
    }

    // After `patience` waits that slept, only every `interval`-th wait polls before its sleep.
    static constexpr std::uint32_t patience = 8;
    static constexpr std::uint32_t interval = 16;

    template <class Ready>
    bool readyAwake(Ready& ready) {
        const std::uint64_t polls = std::uint64_t{options_.spins} + options_.yields;
        if (polls == 0) {
            return false;
        }
        const std::uint32_t misses = misses_.load(std::memory_order_relaxed);  // value only
        const bool isPolling = misses < patience || misses % interval == 0;
        for (std::uint64_t i = 0; i < polls; ++i) {
            if (ready()) {
                if (i != 0 && misses != 0) {
                    misses_.store(0, std::memory_order_relaxed);
                }
                return true;
            }
            if (!isPolling) {
                break;
            }
            i < options_.spins ? Platform::pause() : Platform::yield();
        }
        misses_.store(misses + 1, std::memory_order_relaxed);
        return false;
    }

    Options options_;
    /// The number of consecutive waits without a successful poll.
    typename Platform::template Atomic<std::uint32_t> misses_{0};
    typename Platform::template Atomic<State> state_{0};
    Parker parker_;
};

using Park = BasicPark<>;

/// A pacing policy that pauses after a poll of few messages, so that the next poll delivers more.
///
/// A consumer that polls again immediately takes the cache line that the producer is filling, so
/// the line is transferred for each message: see docs/decisions/batch-pacing.md. Use NoPacing if
/// some 100 ns of latency under load matter more than throughput. Pacing does not affect the
/// latency of an idle queue. Several threads may share a BatchPacing.
template <class Platform = StdPlatform>
class BasicBatchPacing {
public:
    /// The consumer calls polled() after each poll with the number of messages delivered.
    void polled(std::size_t count) const noexcept {
        if (count != 0 && count < enough) {
            pauseFor(count < dense ? pause : 2 * pause);
        }
    }

    /// A producer that finds the queue full calls full() before the next attempt.
    void full() const noexcept { pauseFor(pause); }

private:
    using Clock = typename Platform::Clock;

    static void pauseFor(std::chrono::nanoseconds length) noexcept {
        const auto end = Clock::now() + length;
        do {
            Platform::pause();
        } while (Clock::now() < end);
    }

    // Batch sizes, in messages.
    static constexpr std::size_t enough = 512;  // no pause from this size on
    static constexpr std::size_t dense = 24;    // twice the pause from this size on
    static constexpr std::chrono::nanoseconds pause{600};
};

using BatchPacing = BasicBatchPacing<>;

/// A pacing policy that never pauses: lower latency under load, but less throughput.
class NoPacing {
public:
    void polled(std::size_t) const noexcept {}
    void full() const noexcept {}
};

}  // namespace sluice
