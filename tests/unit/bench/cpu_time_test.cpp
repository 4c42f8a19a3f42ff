#include "harness/machine/cpu_time.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>

namespace sluice::bench {
namespace {

/// Works until this thread has taken 20 ms of processor time. Returns the time that it took.
double work() {
    const double before = cpuTimeOfNs(CLOCK_THREAD_CPUTIME_ID);
    double taken = 0;
    while (taken < 20e6) {
        taken = cpuTimeOfNs(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    return taken;
}

TEST(CpuTime, TheCallingThreadIsNoOtherThread) {
    const double before = cpuTimeOfOthersSoFarNs();
    const double own = work();
    EXPECT_LT(cpuTimeOfOthersSoFarNs() - before, own);
}

TEST(CpuTime, OtherThreadsCount) {
    const double before = cpuTimeOfOthersSoFarNs();
    double taken = 0;
    std::thread other([&] { taken = work(); });
    other.join();
    EXPECT_GE(cpuTimeOfOthersSoFarNs() - before, taken);
}

}  // namespace
}  // namespace sluice::bench
