#pragma once

#include "support/crew.hpp"
#include "support/scale.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#endif

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace sluice::test {

/// Puts the calling thread onto the first processor. Returns false if the system refuses.
inline bool stayOnFirstProcessor() {
#if defined(__linux__)
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    return pthread_setaffinity_np(pthread_self(), sizeof first, &first) == 0;
#else
    return false;
#endif
}

/// Gives the calling thread a real-time priority, on the first processor. Returns false if the
/// system refuses.
inline bool becomeRealTime([[maybe_unused]] int priority) {
#if defined(__linux__)
    sched_param parameters{};
    parameters.sched_priority = priority;
    // The priority first: a thread without it would starve on that processor.
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0 &&
           stayOnFirstProcessor();
#else
    return false;
#endif
}

#if defined(__linux__)
/// Three threads of real-time priorities share a processor. The low thread calls call() without a
/// pause. The high thread interrupts it `calls` times, and calls call() too. Meanwhile the medium
/// thread never sleeps, so the low thread runs only if it inherits the high priority. If call() has
/// a lock without priority inheritance, this does not end. Returns false if the system refuses, and
/// under the sanitizers, whose own locks have no priority inheritance.
///
/// The low and the high thread call call() once before they have their priorities. Then malloc has
/// the memory that they need, and takes no lock of the system, which has no priority inheritance.
template <class Call>
bool callAtThreePriorities(std::size_t calls, Call call) {
    if (underThreadSanitizer || underAddressSanitizer) {
        return false;
    }
    std::atomic<bool> isRefused{false};
    std::atomic<bool> isCalling{false};
    std::atomic<bool> isOver{false};
    sem_t spin;
    ::sem_init(&spin, 0, 0);
    std::atomic<int> begun{0};
    const auto begin = [&](int priority) {
        ++begun;
        awaitThat([&begun] { return begun == 3; });
        if (!becomeRealTime(priority)) {
            isRefused = true;
        }
    };
    std::thread low([&] {
        call();
        begin(1);
        while (!isOver) {
            call();
        }
    });
    std::thread between([&] {
        begin(2);
        while (!isOver) {
            ::sem_wait(&spin);
            while (isCalling && !isRefused) {
            }
        }
    });
    std::thread high([&] {
        call();
        begin(3);
        for (; calls != 0; --calls) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));  // the low thread runs
            isCalling = true;
            ::sem_post(&spin);
            call();
            isCalling = false;
        }
        isOver = true;
        ::sem_post(&spin);
    });
    low.join();
    between.join();
    high.join();
    ::sem_destroy(&spin);
    return !isRefused;
}
#endif

}  // namespace sluice::test
