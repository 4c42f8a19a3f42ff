#pragma once

/// \file
/// PriorityMutex: a mutex that lends its holder the priority of the waiting threads.
///
/// Purpose: threads of different real-time priorities share a short critical section.
///
///     PriorityMutex mutex;
///     {
///         const std::lock_guard<PriorityMutex> guard(mutex);
///         changeWhatIsShared();
///     }
///
/// Use it where a real-time thread may meet an ordinary one. A holder that was preempted runs at
/// once if a thread of a higher priority waits. With a SpinLock that thread would poll, and on a
/// single core the holder would never run. Use a SpinLock where memory must be initialised at
/// compile time.
///
/// Who may call what: any thread lock() and try_lock(); only the holder unlock(). A thread that
/// locks a mutex that it holds waits for ever.
///
/// Progress: blocking. Waiting threads sleep. A holder that waits for something else, such as a
/// page fault, delays all waiting threads.
///
/// Memory promise: everything done before unlock() is visible after the lock(), or successful
/// try_lock(), that follows it (edge E1 hand-over, by the system).
///
/// No allocation. The constructor refuses (see setupError) if the system has no memory for a mutex.
/// Systems without priority inheritance get a SpinLock.
///
/// Tests: tests/unit/base/priority_mutex_test.cpp.

#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>

#include <new>

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <unistd.h>
#endif

#if defined(_POSIX_THREAD_PRIO_INHERIT) && _POSIX_THREAD_PRIO_INHERIT > 0
#define SLUICE_DETAIL_PRIO_INHERIT
#endif

namespace [[gnu::visibility("default")]] sluice {

#if defined(SLUICE_DETAIL_PRIO_INHERIT)

class PriorityMutex {
public:
    PriorityMutex() {
        pthread_mutexattr_t attributes;
        int error = ::pthread_mutexattr_init(&attributes);
        if (error == 0) {
            error = ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
            if (error == 0) {
                error = ::pthread_mutex_init(&mutex_, &attributes);
            }
            ::pthread_mutexattr_destroy(&attributes);
        }
        // A kernel without priority inheritance refuses the protocol: its mutexes still exclude.
        if (error != 0 && ::pthread_mutex_init(&mutex_, nullptr) != 0) {
            setupError("no memory for a mutex; the system's error is",
                       static_cast<unsigned long long>(error), 0);
        }
    }
    PriorityMutex(const PriorityMutex&) = delete;
    PriorityMutex& operator=(const PriorityMutex&) = delete;
    ~PriorityMutex() { ::pthread_mutex_destroy(&mutex_); }

    // The results of lock and unlock tell only of misuse: a mutex of this protocol has no others.
    void lock() noexcept { (void)::pthread_mutex_lock(&mutex_); }
    [[nodiscard]] bool try_lock() noexcept { return ::pthread_mutex_trylock(&mutex_) == 0; }
    void unlock() noexcept { (void)::pthread_mutex_unlock(&mutex_); }

    /// In the child of a fork that was made while the mutex was locked. The kernel knows its holder
    /// by the number of a thread of the parent, so nobody could unlock it. From now on it is
    /// unlocked.
    void forgetHolder() noexcept { ::new (this) PriorityMutex; }

private:
    pthread_mutex_t mutex_;
};

#else

class PriorityMutex : public SpinLock {
public:
    void forgetHolder() noexcept { unlock(); }
};

#endif

}  // namespace sluice

#undef SLUICE_DETAIL_PRIO_INHERIT
