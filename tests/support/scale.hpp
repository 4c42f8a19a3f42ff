#pragma once

#include <algorithm>
#include <cstddef>

// g++ and clang++ tell in different ways which sanitizer is on.
#if defined(__has_feature)
#define SLUICE_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define SLUICE_TEST_HAS_FEATURE(name) 0
#endif

namespace sluice::test {

/// How many times slower than an optimised one this build runs atomics and small functions,
/// roughly.
#if defined(__SANITIZE_THREAD__) || SLUICE_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr std::size_t slowness = 16;
#elif defined(__SANITIZE_ADDRESS__) || SLUICE_TEST_HAS_FEATURE(address_sanitizer)
inline constexpr std::size_t slowness = 6;
#elif !defined(__OPTIMIZE__)
inline constexpr std::size_t slowness = 4;
#else
inline constexpr std::size_t slowness = 1;
#endif

/// Whether ThreadSanitizer is on.
#if defined(__SANITIZE_THREAD__) || SLUICE_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool underThreadSanitizer = true;
#else
inline constexpr bool underThreadSanitizer = false;
#endif

/// The rounds of a repetitive test in this build, given those of an optimised one.
constexpr std::size_t scaled(std::size_t rounds) noexcept {
    return std::max<std::size_t>(rounds / slowness, 1);
}

}  // namespace sluice::test

#undef SLUICE_TEST_HAS_FEATURE
