#pragma once

#if defined(__linux__)
#include <pthread.h>

#include <cerrno>
#endif

namespace sluice::log::detail {

/// Tells whether a thread has died without running its destructors.
///
/// It distinguishes a dead thread from a slow one. A thread dies without its destructors if it
/// calls the raw system call exit, for example.
///
/// The thread holds a robust mutex while it lives. When the holder ends, the kernel marks the
/// mutex, even if a new thread gets the same thread number. Other threads only try to lock the
/// mutex, so it cannot cause a deadlock.
///
/// Threads: the thread itself calls begin() and end(), in pairs. One other thread at a time calls
/// hasDied(). It allocates nothing and throws nothing. On a system without robust mutexes hasDied()
/// is always false.
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

    /// Whether the thread has died without calling end(). If so, the object is ready for another
    /// begin().
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

    /// Called in the child of a fork. No thread holds the mutex afterwards.
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
