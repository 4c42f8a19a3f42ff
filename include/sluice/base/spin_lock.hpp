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

/// A back-off between polls of a condition: spins, then yields, then sleeps.
///
///     sluice::Backoff backoff;
///     while (!isReady.load(std::memory_order_acquire)) {
///         backoff.wait();
///     }
///
/// Use Park or another wait strategy if another thread can wake the waiting thread.
///
/// The first 7 calls of wait() spin for 1, 2, 4 ... 64 pauses, the next 16 yield, and the next 33
/// sleep for 20 us. Each later call doubles the sleep, up to `longestNap`. Real-time threads must
/// sleep, because a yield does not let threads of lower priority run.
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

    /// Returns true if the next wait() yields or sleeps.
    [[nodiscard]] bool isLong() const noexcept { return pauses_ > maxPauses; }

private:
    static constexpr unsigned maxPauses = 64;
    static constexpr unsigned maxYields = 16;
    static constexpr unsigned maxShortNaps = 32;
    using Micros = std::chrono::microseconds::rep;  // numbers compile faster than durations
    static constexpr Micros shortestNap = 20;

    [[gnu::cold, gnu::noinline]] void waitLong() noexcept {
#if SLUICE_HAS_THREADS
        if (yields_ == maxYields) {
#if defined(__linux__)
            (void)::usleep(static_cast<unsigned>(nap_));
#elif defined(_WIN32)
            detail::windows::nap(std::chrono::microseconds(nap_));
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

/// A one-byte mutex that polls: lock() spins, then yields, then sleeps for at most 50 us at a time.
///
///     sluice::SpinLock lock;
///     {
///         const std::lock_guard guard(lock);
///         ++count;
///     }
///
/// Use SpinLock for critical sections of a few instructions, and std::mutex if the critical section
/// allocates, makes system calls or calls user code. Use a mutex with priority inheritance if a
/// real-time thread must not wait for milliseconds.
///
/// Thread safety: any thread may call lock() and try_lock(); only the lock holder may call
/// unlock(). A SpinLock is neither recursive nor fair. A preempted lock holder blocks all threads
/// that call lock(). The last thread to use the lock may destroy it immediately after unlock().
template <class Platform = StdPlatform>
class BasicSpinLock {
public:
    void lock() noexcept {
        if (locked_.exchange(true, std::memory_order_acquire)) {  // E1 unlock
            lockContended();
        }
    }

    [[nodiscard]] bool try_lock() noexcept {
        // The load avoids exchanges, which would take the cache line from the lock holder.
        return !locked_.load(std::memory_order_relaxed) &&          // hint
               !locked_.exchange(true, std::memory_order_acquire);  // E1 unlock
    }

    void unlock() noexcept {
        SLUICE_ASSERT(locked_.load(std::memory_order_relaxed),  // own variable
                      "unlock() without lock(): pair them with std::lock_guard");
        locked_.store(false, std::memory_order_release);  // E1 unlock
    }

private:
    // Origin: test-and-test-and-set with exponential back-off (Anderson 1990). Waiting threads poll
    // a shared copy of the cache line, and write the line only after they saw the lock free.
    //
    // Edge E1: unlock -> lock.

    static constexpr std::chrono::microseconds longestNap{50};

    [[gnu::cold, gnu::noinline]] void lockContended() noexcept {
        BasicBackoff<Platform> backoff(longestNap);
        do {
            while (locked_.load(std::memory_order_relaxed)) {  // hint
                backoff.wait();
            }
        } while (locked_.exchange(true, std::memory_order_acquire));  // E1 unlock
    }

    typename Platform::template Atomic<bool> locked_{false};
};

using SpinLock = BasicSpinLock<>;

}  // namespace sluice
