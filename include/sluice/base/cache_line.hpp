#pragma once

#include <cstddef>

namespace sluice {

/// The distance in bytes at which two variables do not share a cache line. It depends on the target
/// only, and no option changes it, so it is the same everywhere in a program.
///
/// - 128 on Apple silicon (aarch64): `sysctl hw.cachelinesize` reports 128;
/// - 4 on Arm's M profile, that is single-core parts without shared lines: padding would be waste;
/// - 64 everywhere else: x86-64 and the usual Arm A cores.
///
/// std::hardware_destructive_interference_size is not used: with g++ it follows -mtune, so two
/// translation units of one program may disagree about it.
#if defined(__APPLE__) && defined(__aarch64__)
inline constexpr std::size_t cacheLineSize = 128;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr std::size_t cacheLineSize = 4;
#else
inline constexpr std::size_t cacheLineSize = 64;
#endif

}  // namespace sluice
