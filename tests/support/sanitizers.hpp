#pragma once

/// \file
/// SLUICE_TEST_ASAN and SLUICE_TEST_TSAN are 1 in a build with that sanitizer, and 0 elsewhere. g++
/// and clang++ define different macros.

#if defined(__has_feature)
#define SLUICE_TEST_ASAN __has_feature(address_sanitizer)
#define SLUICE_TEST_TSAN __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_TEST_ASAN 1
#else
#define SLUICE_TEST_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define SLUICE_TEST_TSAN 1
#else
#define SLUICE_TEST_TSAN 0
#endif
#endif

// What a death test expects of a block that is freed twice. gtest knows no `|` under Windows.
#if defined(_WIN32)
#define SLUICE_TEST_FREED_TWICE "freed twice"
#else
#define SLUICE_TEST_FREED_TWICE "freed twice|use-after-poison"
#endif
