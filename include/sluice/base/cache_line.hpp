#pragma once

#include <cstddef>

namespace sluice {

/// The distance in bytes at which two variables do not share a cache line: 128 on Apple silicon, 4
/// on Arm's M profile (single-core parts without shared lines), 64 everywhere else.
///
/// std::hardware_destructive_interference_size is not used, because with g++ it follows -mtune, so
/// two translation units of one program may disagree about it.
#if defined(__APPLE__) && defined(__aarch64__)
inline constexpr std::size_t cacheLineSize = 128;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr std::size_t cacheLineSize = 4;
#else
inline constexpr std::size_t cacheLineSize = 64;
#endif

/// Requests the cache line of `address` with the right to write it. A hint that never faults, so
/// any address is allowed.
inline void prefetchForWrite(const void* address) noexcept {
#if defined(__x86_64__)
    // The builtin would request a shared copy unless the target is known to have this instruction.
    // All x86-64 processors execute it, the oldest as a no-operation.
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/// Requests the cache line of `address` for a load. A hint that never faults.
inline void prefetchForRead(const void* address) noexcept {
    __builtin_prefetch(address, 0);
}

/// Requests the first and the last line of an object that will be written.
template <class T>
void prefetchEndsForWrite(const T& object) noexcept {
    const auto* const begin = reinterpret_cast<const unsigned char*>(&object);
    prefetchForWrite(begin);
    prefetchForWrite(begin + sizeof(T) - 1);
}

}  // namespace sluice
