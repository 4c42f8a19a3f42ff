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

/// `now` plus the duration, or the last moment of the clock if that is beyond its range. A negative
/// duration gives `now`.
template <class Clock, class Ticks, class Rep, class Period>
std::chrono::time_point<Clock, Ticks> deadlineAfter(std::chrono::time_point<Clock, Ticks> now,
                                                    std::chrono::duration<Rep, Period> atMost) {
    if (!(atMost > atMost.zero())) {
        return now;
    }
    // Compared in floating point: the longest durations overflow as integers of the clock's unit.
    using Seconds = std::chrono::duration<double>;
    using TimePoint = std::chrono::time_point<Clock, Ticks>;
    constexpr auto last = TimePoint::max();
    // Before the epoch, `last - now` overflows. Close to the end, a float is rounded beyond it.
    const Seconds left = 0.999999 * Seconds(last - std::max(now, TimePoint()));
    return Seconds(atMost) < left ? now + std::chrono::ceil<Ticks>(atMost) : last;
}

/// The deadline of a timed operation that begins now.
template <class Clock, class Rep, class Period>
typename Clock::time_point deadlineAfter(std::chrono::duration<Rep, Period> atMost) {
    return deadlineAfter(Clock::now(), atMost);
}

namespace detail {

// A parker lets a thread sleep until the high half of a Park's word changes. park(word,
// stillWaiting, atMost) sleeps only if stillWaiting(value) is true for the word's value, and may
// return at any time. To end the sleep, another thread changes the high half so that
// stillWaiting(value) becomes false, and then calls unparkAll(word) or unparkOne(word). No sleep is
// longer than a day, because kernels and standard libraries overflow on the longest limits.

#if defined(__linux__)

/// Sleeps on the high half of a 64-bit atomic; no state of its own.
class FutexParker {
public:
    template <class StillWaiting>
    void park(const std::atomic<std::uint64_t>& word, StillWaiting stillWaiting,
              std::chrono::nanoseconds atMost) noexcept {
        constexpr int second = 1'000'000'000;
        timespec timeout{};
        timeout.tv_sec = static_cast<decltype(timeout.tv_sec)>(atMost.count() / second);
        timeout.tv_nsec = static_cast<decltype(timeout.tv_nsec)>(atMost.count() % second);
        // The kernel compares the high half again, so no change after this check is missed.
        const std::uint64_t seen = word.load(std::memory_order_acquire);
        const auto high = static_cast<std::uint32_t>(seen >> 32U);
        if (stillWaiting(seen)) {
            ::syscall(waitCall, highHalf(word), FUTEX_WAIT_PRIVATE, high, &timeout, nullptr, 0);
        }
    }

    void unparkAll(const std::atomic<std::uint64_t>& word) noexcept { wake(word, INT32_MAX); }
    void unparkOne(const std::atomic<std::uint64_t>& word) noexcept { wake(word, 1); }

private:
    // A 32-bit program may have times of 64 bits. SYS_futex would read such a time as two words.
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
#elif SLUICE_HAS_THREADS
using DefaultParker = detail::CondVarParker;
#else
using DefaultParker = detail::NoParker;
#endif

namespace detail {

// True if a wait strategy has notifyOne(), or notifyOne(isDue).
template <class Wait, class = void, class... IsDue>
inline constexpr bool canNotifyOne = false;
template <class Wait, class... IsDue>
inline constexpr bool canNotifyOne<
    Wait, std::void_t<decltype(std::declval<Wait&>().notifyOne(std::declval<IsDue>()...))>,
    IsDue...> = true;

}  // namespace detail

/// Wakes one of the threads that wait for the same thing. A wait strategy without notifyOne() wakes
/// all of them, and one without notifyOne(isDue) does not ask isDue().
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

/// Lets threads sleep until a condition on lock-free data of other threads becomes true: an event
/// count that polls before it sleeps. The default wait strategy.
///
///     sluice::Park park;
///     park.wait([&] { return isReady.load(); });  // one thread
///     isReady.store(true);                        // another thread
///     park.notifyAll();
///
/// A wait spins shortly, yields a few times, and then sleeps in the kernel until notified. Use
/// BusySpin or SpinThenYield if a wake-up through the kernel (some microseconds) is too slow, and a
/// condition variable if the data has a mutex.
///
/// Thread safety: any thread may call any member; none may wait at the destruction. notifyAll()
/// wakes all sleepers. notifyOne() wakes one that no notification has woken yet: use it if all
/// threads wait for the same thing and each change serves one of them. A woken thread that leaves
/// something for another one calls notifyOne() itself. A notifier preempted mid-call delays the
/// sleepers that it was about to wake until the next notification. A waiter whose condition sees a
/// notifier's change also sees all its earlier writes.
///
/// Errors: an exception of `ready` ends the wait and propagates.
///
/// Performance: a notification without sleepers is a load and a light fence. The first sleeper pays
/// a heavy fence. After 8 waits in a row whose polls found nothing, only one of 16 waits polls,
/// until polls succeed again. Nothing allocates.
template <class Platform = StdPlatform, class Parker = DefaultParker>
class BasicPark {
public:
    using Clock = typename Platform::Clock;

    struct Options {
        /// The number of polls with a pause instruction in between.
        std::uint32_t spins = 64;
        /// The number of polls after that, with a yield to other threads in between.
        std::uint32_t yields = 8;
    };

    constexpr BasicPark() noexcept : BasicPark(Options{}) {}
    constexpr explicit BasicPark(const Options& options) noexcept : options_(options) {}

    /// Returns when `ready` returns true.
    template <class Ready>
    void wait(Ready&& ready) {
        (void)(readyAwake(ready) || readyAsleep(ready, never));
    }

    /// Returns false if `deadline` passed first. Calls `ready` at least once, and exactly once if
    /// `deadline` has passed already.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        if (Clock::now() >= deadline) {
            return ready();
        }
        return readyAwake(ready) || readyAsleep(ready, deadline);
    }

    [[gnu::always_inline]] void notifyAll() noexcept {
        if (hasAnybody()) {
            wakeAll();
        }
    }

    /// Wakes one sleeper. Call it after a change that serves one. If there may be a sleeper, asks
    /// isDue() first, and wakes none if that returns false.
    template <class... IsDue>
    void notifyOne(IsDue... isDue) noexcept {
        if (hasAnybody()) {
            wakeOne(isDue...);
        }
    }

protected:
    // The steps of a wait, for tests. A waiter announces itself, checks its condition again, and
    // then calls one of sleepUntil and cancelWait, with the epoch of its announcement.

    using Epoch = std::uint32_t;

    [[nodiscard]] Epoch announce() noexcept {
        const State before = state_.fetch_add(oneWaiter, std::memory_order_acquire);  // E3
        const Epoch epoch = epochOf(before);
        if (!isAnnounced(before)) {
            Platform::Fence::heavy();  // E1
            markAnnounced(epoch);
        }
        return epoch;
    }

    /// Takes an announcement back. Returns true if the thread had been notified.
    bool cancelWait(Epoch epoch) noexcept { return leave(epoch, Leaving::withoutPermit); }

    /// Sleeps until a notification after announce(). Returns false if `deadline` passed without.
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
    // Origin: D. Vyukov's eventcount; the layout (count of waiters and epoch in one word) follows
    // folly::EventCount. New here: the fence of the notifier is asymmetric, and permits wake one
    // waiter of an epoch.
    //
    // Invariants: waiters(state) is the number of threads that announced themselves in the current
    // epoch, and have neither cancelled nor taken a permit. permits(state) <= waiters(state). A
    // notification of all begins an epoch without waiters and permits. While isWaking(state), one
    // notifier of this epoch has yet to call the kernel; another notifier then begins a new epoch
    // and wakes all waiters. isAnnounced(state) implies waiters(state) != 0, and that a heavy fence
    // has followed the last moment without waiters. A thread between announce() and its first load
    // of the epoch would take exactly 2^20 notifications of all for none.
    //
    // Any waiter may take a permit, not only the one that the kernel woke. No permit is lost: a
    // waiter leaves without one only if each permit has another waiter.
    //
    // Edges:
    //   E1 announce  fetch_add in announce(), heavy fence, condition read -- against -- condition
    //                written, light fence, load in the notifier: at least one of the two reads sees
    //                the other's write
    //   E2 wake      the change of epoch or permits by the notifier .. the load in leave()
    //   E3 join      a waiter that joins announced waiters needs no fence. If the notifier read an
    //                older state, the fence of the announced waiters has made the notifier's change
    //                visible: mark release .. fetch_add acquire. If the notifier changes the state,
    //                either change release .. fetch_add acquire, or the waiter is notified.

    static constexpr auto never = Clock::time_point::max();
    static constexpr std::chrono::hours longestSleep{24};

    // From the low end: isWaking, isAnnounced, the count of waiters, the permits, the epoch. The
    // last two are the high half, on which waiters sleep.
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

    /// Called by a waiter of this epoch after its heavy fence.
    void markAnnounced(Epoch epoch) noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // relaxed: only a guess
        // Release: E3.
        while (epochOf(seen) == epoch && !isAnnounced(seen) &&
               !state_.compare_exchange_weak(seen, seen | announced, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }

    enum class Leaving { withPermit, withoutPermit };

    /// Takes a waiter off the count. Returns true if it was notified. `withPermit`: a waiter that
    /// was not notified stays. `withoutPermit`: the waiter leaves, and takes a permit only if each
    /// waiter has one.
    bool leave(Epoch epoch, Leaving how) noexcept {
        State seen = state_.load(std::memory_order_acquire);  // E2
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
            // Acquire: E2. The exchange may take a later permit than the load has seen.
            if (state_.compare_exchange_weak(seen, left, std::memory_order_acquire,
                                             std::memory_order_acquire)) {
                return takesPermit;
            }
        }
    }

    /// Returns true if a notification may have something to do.
    [[gnu::always_inline]] bool hasAnybody() const noexcept {
        Platform::Fence::light();
        // Relaxed: E1's fences order this load after the change of the condition.
        return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed)) != 0;
    }

    // Out of line, so that a notification without waiters is short.

    [[gnu::noinline]] void wakeOne() noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // relaxed: only a guess
        bool isServed = false;
        do {
            const State permits = permitsOf(seen);
            if (isWaking(seen) || permits == mostPermits) {
                wakeAll();
                return;
            }
            isServed = permits == waitersOf(seen);
            // Release: E2, and E3 also where nothing changes.
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
        State seen = state_.load(std::memory_order_relaxed);  // relaxed: only a guess
        do {
            if (static_cast<std::uint32_t>(seen) == 0) {
                return;
            }
            // Release: E2.
        } while (!state_.compare_exchange_weak(
            seen, nextEpoch(seen) + waking, std::memory_order_release, std::memory_order_relaxed));
        parker_.unparkAll(state_);
        endWaking(epochOf(nextEpoch(seen)));
    }

    /// The next epoch, without waiters and permits. Epoch 0 follows the last epoch.
    static State nextEpoch(State state) noexcept { return (state / oneEpoch + 1) * oneEpoch; }

    /// Clears the mark after the kernel call. The notifier of a later epoch clears its own mark.
    void endWaking(Epoch epoch) noexcept {
        State seen = state_.load(std::memory_order_relaxed);  // relaxed, all: only the mark changes
        while (epochOf(seen) == epoch &&
               !state_.compare_exchange_weak(seen, seen & ~waking, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        }
    }

    /// If the condition throws, takes the announcement back, or passes the notification on.
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

    /// Checks the condition once more after `deadline`. After a sleep, checks it before the next
    /// announcement, so that a woken thread pays for no further fence.
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

    // Polls are useless if waits are long.
    static constexpr std::uint32_t patience = 8;
    static constexpr std::uint32_t interval = 16;

    template <class Ready>
    bool readyAwake(Ready& ready) {
        const std::uint64_t polls = std::uint64_t{options_.spins} + options_.yields;
        if (polls == 0) {
            return false;
        }
        // Relaxed, all: a guess. Concurrent counts may be lost.
        const std::uint32_t misses = misses_.load(std::memory_order_relaxed);
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
    /// The number of waits in a row whose polls found nothing, or did not poll. Waiters write it.
    typename Platform::template Atomic<std::uint32_t> misses_{0};
    typename Platform::template Atomic<State> state_{0};
    Parker parker_;
};

using Park = BasicPark<>;

/// A pacing policy that pauses after small batches, so that the next batch grows.
///
/// A consumer that polls again immediately reads the cache line that the producer is filling, so
/// both wait for its transfer for each message: see docs/decisions/batch-pacing.md. Use NoPacing if
/// a few hundred nanoseconds of latency under load matter more than throughput. An idle queue has
/// the same latency with both. A pause spins. Several threads may share an object.
template <class Platform = StdPlatform>
class BasicBatchPacing {
public:
    /// Called after each poll, with the number of messages that it delivered.
    void polled(std::size_t count) const noexcept {
        if (count != 0 && count < enough) {
            pauseFor(count < dense ? pause : 2 * pause);
        }
    }

    /// Called by a producer that found the queue full, before it tries again.
    void full() const noexcept { pauseFor(pause); }

private:
    using Clock = typename Platform::Clock;

    static void pauseFor(std::chrono::nanoseconds length) noexcept {
        const auto end = Clock::now() + length;
        do {
            Platform::pause();
        } while (Clock::now() < end);
    }

    // In messages of one batch.
    static constexpr std::size_t enough = 512;  // no pause
    static constexpr std::size_t dense = 24;    // twice the pause
    static constexpr std::chrono::nanoseconds pause{600};
};

using BatchPacing = BasicBatchPacing<>;

/// Never pauses. It has the lowest latency under load, and less throughput.
class NoPacing {
public:
    void polled(std::size_t) const noexcept {}
    void full() const noexcept {}
};

}  // namespace sluice
