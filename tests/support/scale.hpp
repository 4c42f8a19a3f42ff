#pragma once

#include "sanitizers.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice::test {

/// Roughly how many times slower than an optimised build this build runs small functions.
#if SLUICE_TEST_TSAN
inline constexpr std::size_t slowness = 16;
#elif SLUICE_TEST_ASAN || defined(SLUICE_TEST_EMULATED)
inline constexpr std::size_t slowness = 6;
#elif !defined(__OPTIMIZE__)
inline constexpr std::size_t slowness = 4;
#else
inline constexpr std::size_t slowness = 1;
#endif

inline constexpr bool underThreadSanitizer = SLUICE_TEST_TSAN;

/// The rounds of a test in this build. `rounds` is their number in an optimised build.
constexpr std::size_t scaled(std::size_t rounds) noexcept {
    return std::max<std::size_t>(rounds / slowness, 1);
}

}  // namespace sluice::test
