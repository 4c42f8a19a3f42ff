#pragma once

#include <ctime>

namespace sluice::bench {

/// Processor time of all threads of this process so far.
inline double cpuTimeSoFarNs() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

}  // namespace sluice::bench
