#pragma once

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace sluice::test {

/// Puts the calling thread onto the first processor. False if the system refuses.
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

/// Gives the calling thread a real-time priority, on the first processor. False if the system
/// refuses.
inline bool becomeRealTime([[maybe_unused]] int priority) {
#if defined(__linux__)
    sched_param parameters{};
    parameters.sched_priority = priority;
    // In this order: an ordinary thread would starve on that processor.
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0 &&
           stayOnFirstProcessor();
#else
    return false;
#endif
}

}  // namespace sluice::test
