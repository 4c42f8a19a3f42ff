#pragma once

#if defined(__linux__)
#include <pthread.h>

#include <cerrno>
#endif

namespace sluice::log::detail {

/// Whether a thread has ended, even without running its destructors.
///
/// Tells a thread that ended without a word (by the raw system call, or killed by the system alone)
/// from one that is merely slow.
///
/// The thread holds a robust mutex for as long as it lives: the kernel marks it when its holder
/// has gone, whoever else has got the thread's number since. It is taken by trying, never waited
/// for, so it is part of no lock order.
///
/// begin() and end() are called by the thread itself, in pairs; isOver() by one other thread at a
/// time. Where there are no robust mutexes, no thread is ever found to be over. No allocation, no
/// exceptions.
///
/// Tests: tests/unit/log/thread_life_test.cpp.
class ThreadLife {
public:
    ThreadLife() noexcept { make(); }
    ThreadLife(const ThreadLife&) = delete;
    ThreadLife& operator=(const ThreadLife&) = delete;

#if defined(__linux__)
    ~ThreadLife() { ::pthread_mutex_destroy(&mutex_); }

    void begin() noexcept { (void)::pthread_mutex_trylock(&mutex_); }
    void end() noexcept { (void)::pthread_mutex_unlock(&mutex_); }

    /// Whether the thread has gone without end(). Then the object is ready for another begin().
    [[nodiscard]] bool isOver() noexcept {
        const int result = ::pthread_mutex_trylock(&mutex_);
        if (result == EOWNERDEAD) {
            (void)::pthread_mutex_consistent(&mutex_);
        }
        if (result == 0 || result == EOWNERDEAD) {
            (void)::pthread_mutex_unlock(&mutex_);
        }
        return result == EOWNERDEAD;
    }

    /// In the child of a fork, where no thread holds what it held: starts anew.
    void forget() noexcept { make(); }

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
    [[nodiscard]] bool isOver() noexcept { return false; }
    void forget() noexcept {}

private:
    void make() noexcept {}
#endif
};

}  // namespace sluice::log::detail
