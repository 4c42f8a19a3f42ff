#pragma once

/// \file
/// PriorityMutex: a mutex whose holder runs at the priority of its waiters.

#if defined(__linux__)
#include <pthread.h>

#include <new>
#else
#include <mutex>
#endif

namespace sluice::log::detail {

/// A mutex with priority inheritance, where the system has one. So a thread of a real-time priority
/// waits no longer than the holder needs, also when both share a processor.
///
/// Any thread may lock it, outside of signal handlers. It does not allocate.
///
/// Tests: tests/unit/log/intake_real_time_test.cpp.
#if defined(__linux__)
class PriorityMutex {
public:
    PriorityMutex() noexcept {
        pthread_mutexattr_t attributes;
        (void)::pthread_mutexattr_init(&attributes);
        (void)::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        if (::pthread_mutex_init(&mutex_, &attributes) != 0) {
            (void)::pthread_mutex_init(&mutex_, nullptr);
        }
        (void)::pthread_mutexattr_destroy(&attributes);
    }
    PriorityMutex(const PriorityMutex&) = delete;
    PriorityMutex& operator=(const PriorityMutex&) = delete;
    ~PriorityMutex() { (void)::pthread_mutex_destroy(&mutex_); }

    void lock() noexcept { (void)::pthread_mutex_lock(&mutex_); }
    void unlock() noexcept { (void)::pthread_mutex_unlock(&mutex_); }

    /// In the child of a fork: the kernel knows its holder by the number of a thread of the parent,
    /// so nobody could unlock it. It is unlocked from now on.
    void forgetHolder() noexcept { ::new (this) PriorityMutex; }

private:
    pthread_mutex_t mutex_;
};
#else
class PriorityMutex : public std::mutex {
public:
    void forgetHolder() noexcept { unlock(); }
};
#endif

}  // namespace sluice::log::detail
