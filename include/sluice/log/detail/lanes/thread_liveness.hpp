#pragma once

#if defined(__linux__)
#include <pthread.h>

#include <cerrno>
#endif

namespace sluice::log::detail {

/// Tells whether a thread has ended, even without its destructors.
///
/// It tells a dead thread from a slow one. A thread dies without its destructors by the raw system
/// call exit, for example.
///
/// The thread holds a robust mutex while it lives. The kernel marks the mutex when its holder ends,
/// also if a new thread has the same number. Other threads only try to lock it, so it belongs to no
/// lock order.
///
/// The thread itself calls begin() and end(), in pairs. One other thread at a time calls hasDied().
/// On a system without robust mutexes no thread is found dead. No allocation, no exceptions.
///
/// Tests: tests/unit/log/thread_liveness_test.cpp.
class ThreadLiveness {
public:
    ThreadLiveness() noexcept { make(); }
    ThreadLiveness(const ThreadLiveness&) = delete;
    ThreadLiveness& operator=(const ThreadLiveness&) = delete;

#if defined(__linux__)
    ~ThreadLiveness() { ::pthread_mutex_destroy(&mutex_); }

    void begin() noexcept { (void)::pthread_mutex_trylock(&mutex_); }
    void end() noexcept { (void)::pthread_mutex_unlock(&mutex_); }

    /// Whether the thread has ended without end(). Then the object is ready for another begin().
    [[nodiscard]] bool hasDied() noexcept {
        const int result = ::pthread_mutex_trylock(&mutex_);
        if (result == EOWNERDEAD) {
            (void)::pthread_mutex_consistent(&mutex_);
        }
        if (result == 0 || result == EOWNERDEAD) {
            (void)::pthread_mutex_unlock(&mutex_);
        }
        return result == EOWNERDEAD;
    }

    /// In the child of a fork: no thread holds the mutex.
    void resetInChild() noexcept { make(); }

private:
    void make() noexcept {
        pthread_mutexattr_t attributes;
        (void)::pthread_mutexattr_init(&attributes);
        (void)::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        (void)::pthread_mutex_init(&mutex_, &attributes);
        (void)::pthread_mutexattr_destroy(&attributes);
    }

    pthread_mutex_t mutex_;
#else
    void begin() noexcept {}
    void end() noexcept {}
    [[nodiscard]] bool hasDied() noexcept { return false; }
    void resetInChild() noexcept {}

private:
    void make() noexcept {}
#endif
};

}  // namespace sluice::log::detail
