#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

#if defined(__linux__)
#include <unistd.h>
#elif SLUICE_HAS_THREADS
#include <thread>
#endif

namespace [[gnu::visibility("default")]] sluice {

/// The wait between two polls of a condition that another thread makes true: it spins, then yields,
/// then sleeps.
///
///     sluice::Backoff backoff;
///     while (!isReady.load(std::memory_order_acquire)) {
///         backoff.wait();
///     }
///
/// Use a wait strategy of the module `wait` if the other thread can wake the waiting one.
///
/// It spins from 1 to 64 pauses, yields 16 times, naps 32 times for 20 us, then doubles the naps up
/// to `longestNap`. It must sleep, because a real-time thread that only yields never lets a thread
/// of lower priority run on its processor.
template <class Platform = StdPlatform>
class BasicBackoff {
public:
    BasicBackoff() noexcept = default;
    explicit BasicBackoff(std::chrono::microseconds longestNap) noexcept
        : longestNap_(std::max<Micros>(longestNap.count(), shortestNap)) {}

    void wait() noexcept {
        if (pauses_ > maxPauses) {
            waitLong();
            return;
        }
        for (unsigned i = 0; i < pauses_; ++i) {
            Platform::pause();
        }
        pauses_ *= 2;
    }

    /// Returns true if the next step yields or sleeps.
    [[nodiscard]] bool isLong() const noexcept { return pauses_ > maxPauses; }

private:
    static constexpr unsigned maxPauses = 64;
    static constexpr unsigned maxYields = 16;
    static constexpr unsigned maxShortNaps = 32;
    using Micros = std::chrono::microseconds::rep;  // plain numbers compile faster
    static constexpr Micros shortestNap = 20;

    [[gnu::cold, gnu::noinline]] void waitLong() noexcept {
#if SLUICE_HAS_THREADS
        if (yields_ == maxYields) {
#if defined(__linux__)
            (void)::usleep(static_cast<unsigned>(nap_));
#else
            std::this_thread::sleep_for(std::chrono::microseconds(nap_));
#endif
            if (++naps_ > maxShortNaps) {
                nap_ = std::min(2 * nap_, longestNap_);
            }
            return;
        }
        ++yields_;
#endif
        Platform::yield();
    }

    unsigned pauses_ = 1;
    unsigned yields_ = 0;
    unsigned naps_ = 0;
    Micros nap_ = shortestNap;
    Micros longestNap_ = 2000;
};

using Backoff = BasicBackoff<>;

/// A mutex of one byte that polls: it spins, then yields, then sleeps for at most 50 us at a time.
///
///     sluice::SpinLock lock;
///     {
///         const std::lock_guard guard(lock);
///         ++count;
///     }
///
/// Use it for critical sections of a few instructions that call no code of the user. Use std::mutex
/// if the section allocates, or calls the system or the user's code. Use a mutex with priority
/// inheritance if a real-time thread must not wait for milliseconds.
///
/// Thread safety: any thread may call lock() and try_lock(); only the lock holder may call
/// unlock(). The lock is not recursive and not fair. A preempted holder blocks all others. A thread
/// that has locked and unlocked it may destroy it, if no other thread will lock it.
template <class Platform = StdPlatform>
class BasicSpinLock {
public:
    void lock() noexcept {
        if (locked_.exchange(true, std::memory_order_acquire)) {  // E1
            lockContended();
        }
    }

    [[nodiscard]] bool try_lock() noexcept {
        // Relaxed: only decides whether the exchange, which takes the cache line from the holder,
        // is worth a try.
        return !locked_.load(std::memory_order_relaxed) &&
               !locked_.exchange(true, std::memory_order_acquire);  // E1
    }

    void unlock() noexcept {
        // Relaxed: the holder reads its own store.
        SLUICE_ASSERT(locked_.load(std::memory_order_relaxed),
                      "unlock() without lock(): pair them with std::lock_guard");
        locked_.store(false, std::memory_order_release);  // E1
    }

private:
    // Origin: test-and-test-and-set with exponential back-off (Anderson 1990). Waiters poll a
    // shared copy of the line, and write it only when they have seen the lock free.
    //
    // Invariant: locked_ is true exactly while some thread is between lock() and unlock().
    // Edge: E1 hand-over  unlock() release .. acquire by the exchange that finds false

    static constexpr std::chrono::microseconds longestNap{50};

    [[gnu::cold, gnu::noinline]] void lockContended() noexcept {
        BasicBackoff<Platform> backoff(longestNap);
        do {
            // Relaxed: a hint, as in try_lock().
            while (locked_.load(std::memory_order_relaxed)) {
                backoff.wait();
            }
        } while (locked_.exchange(true, std::memory_order_acquire));  // E1
    }

    typename Platform::template Atomic<bool> locked_{false};
};

using SpinLock = BasicSpinLock<>;

}  // namespace sluice
