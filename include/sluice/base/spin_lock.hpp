#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/backoff.hpp>
#include <sluice/base/platform.hpp>

#include <atomic>

namespace [[gnu::visibility("default")]] sluice {

/// A mutex of one byte that waits by polling.
///
///     sluice::SpinLock lock;
///     {
///         const std::lock_guard guard(lock);
///         ++count;
///     }
///
/// Use it for critical sections of a few instructions that call no code of the user, if a
/// std::mutex would be larger than its data. Use std::mutex if the section allocates, or calls the
/// system or the user's code. Use PriorityMutex if threads of different real-time priorities share
/// the section: a waiter of higher priority would poll, and a holder of lower priority would never
/// run.
///
/// Threads: any thread calls lock() and try_lock(); only the holder calls unlock(). A thread that
/// locks a lock that it holds waits for ever.
///
/// Progress: blocking. A thread that is stopped between lock() and unlock() stops every later
/// lock() until it goes on. The waiters then yield, but do not sleep. try_lock() never waits. There
/// is no queue: the thread that polls first after unlock() is next, so a thread may be overtaken
/// any number of times.
///
/// Memory promise: everything done before an unlock() is visible after each later lock() and
/// successful try_lock().
///
/// No allocation, no exceptions, constant-initialised. The caller must not destroy a held lock.
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
    [[gnu::cold, gnu::noinline]] void lockContended() noexcept {
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
