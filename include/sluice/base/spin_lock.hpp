#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/backoff.hpp>
#include <sluice/base/platform.hpp>

#include <atomic>

namespace [[gnu::visibility("default")]] sluice {

/// A mutex of one byte that waits by polling.
///
/// Use it for critical sections of a few instructions that call no foreign code, where a std::mutex
/// would be larger than the data behind it. Use std::mutex when the section allocates, calls the
/// system or user code, or when threads of different real-time priorities compete: the waiter of
/// the higher priority would poll while the holder of the lower one never runs.
///
/// Threads: any thread lock() and try_lock(); only the holder unlock(). A thread that
/// locks a lock that it holds waits for ever.
///
/// Progress: blocking. A thread that is stopped between lock() and unlock() stops every later
/// lock() until it goes on; the waiters then give their time slices away, but do not sleep.
/// try_lock() never waits. There is no queue: the thread that polls first after unlock() is next,
/// so a thread can be overtaken any number of times.
///
/// Memory promise: everything done before unlock() is visible after the lock(), or successful
/// try_lock(), that follows it.
///
/// No allocation, no exceptions, constant-initialised. Destroying a held lock is a mistake of the
/// caller.
///
/// Origin: test-and-test-and-set with exponential back-off (Anderson 1990). Waiters poll a shared
/// copy of the line and try to write it only when they have seen the lock free.
///
/// Invariant: `locked_` is true exactly while some thread is between lock() and unlock().
/// Edge: E1 hand-over: unlock() (release store) -> the exchange that finds false (acquire).
///
/// Tests: tests/unit/base/spin_lock_test.cpp.
///
/// `Backoff`: the waits of a thread that polls.
template <class Platform = StdPlatform, template <class> class Backoff = BasicBackoff>
class BasicSpinLock {
public:
    constexpr BasicSpinLock() noexcept = default;
    BasicSpinLock(const BasicSpinLock&) = delete;
    BasicSpinLock& operator=(const BasicSpinLock&) = delete;

    void lock() noexcept {
        if (locked_.exchange(true, std::memory_order_acquire)) {  // E1
            lockContended();
        }
    }

    [[nodiscard]] bool try_lock() noexcept {
        // Relaxed: only decides whether the exchange, which invalidates the holder's line, is worth
        // a try.
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
    [[gnu::noinline]] void lockContended() noexcept {
        Backoff<Platform> backoff;
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
