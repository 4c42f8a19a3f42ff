#pragma once

/// \file
/// SLUICE_TEST_FORKS is 1 if a thread may fork while other threads allocate. ThreadSanitizer
/// follows no forks of programs with several threads. AddressSanitizer of g++ 12 forks while other
/// threads hold the locks of its allocator, and no thread of the child releases these locks.

#include "support/sanitizers.hpp"

#if defined(__linux__) && !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
#define SLUICE_TEST_FORKS 1
#else
#define SLUICE_TEST_FORKS 0
#endif

#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

/// Ends the child of a fork.
[[noreturn]] inline void endChild(bool isRight) {
    ::_exit(isRight ? 0 : 1);
}

/// fork(). A signal ends a child that hangs.
inline pid_t limitedFork() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
    }
    return child;
}

/// Whether the child has ended by endChild(true).
inline bool endedWell(pid_t child) {
    int status = 1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// The result of check() in the child of a fork; false if the child hangs.
template <class Check>
bool isTrueInChild(Check check) {
    const pid_t child = limitedFork();
    if (child == 0) {
        endChild(check());
    }
    return endedWell(child);
}

}  // namespace sluice::test
