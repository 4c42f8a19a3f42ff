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

/// The result of check() in the child of a fork. A signal ends a child that hangs: false.
template <class Check>
bool isTrueInChild(Check check) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        ::_exit(check() ? 0 : 1);
    }
    int status = 1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace sluice::test
