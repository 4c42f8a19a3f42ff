#pragma once

/// \file
/// Whether the standard library has threads. One that was built for microcontrollers has neither
/// std::mutex nor std::condition_variable, and the linker finds no thread-local storage.
///
///     #if SLUICE_HAS_THREADS
///     #include <mutex>
///     #endif
///
/// SLUICE_THREAD_LOCAL is `thread_local`, and nothing where there are no threads. A program whose
/// operating system has thread-local storage all the same defines it as `thread_local` for all of
/// its units.
///
/// Tests: tests/unit/base/thread_support_test.cpp; `./dev ram` builds without threads.

#include <cstddef>

#if !defined(__GLIBCXX__) || defined(_GLIBCXX_HAS_GTHREADS)
#define SLUICE_HAS_THREADS 1
#else
#define SLUICE_HAS_THREADS 0
#endif

#if !defined(SLUICE_THREAD_LOCAL)
#if SLUICE_HAS_THREADS || defined(_WIN32)
#define SLUICE_THREAD_LOCAL thread_local
#else
#define SLUICE_THREAD_LOCAL
#endif
#endif
