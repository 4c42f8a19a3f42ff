#pragma once

#include <ctime>

namespace sluice::bench {

inline double cpuTimeOfNs(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

/// Processor time of all threads of this process so far.
inline double cpuTimeSoFarNs() {
    return cpuTimeOfNs(CLOCK_PROCESS_CPUTIME_ID);
}

/// Processor time of all threads of this process so far, without the calling thread.
inline double cpuTimeOfOthersSoFarNs() {
    return cpuTimeSoFarNs() - cpuTimeOfNs(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace sluice::bench
