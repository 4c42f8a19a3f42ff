#pragma once

/// \file
/// Tells whether the standard library has threads. A library for microcontrollers has neither
/// std::mutex nor std::condition_variable, and the linker finds no thread-local storage. libc++ is
/// taken to have threads.
///
///     #if SLUICE_HAS_THREADS
///     #include <mutex>
///     #endif
///
/// SLUICE_THREAD_LOCAL is `thread_local`, or empty if there are no threads. If the operating system
/// has thread-local storage all the same, a program defines it as `thread_local` in all units.
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
