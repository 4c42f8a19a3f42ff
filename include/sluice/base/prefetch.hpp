#pragma once

namespace sluice {

/// Asks for the cache line of `address` with the right to write it, ahead of the store that will
/// need it. A hint: it reads and writes nothing and never faults, so any address will do.
inline void prefetchForWrite(const void* address) noexcept {
#if defined(__x86_64__)
    // The builtin would ask for a shared copy unless the target is known to have this instruction.
    // All x86-64 processors execute it, the oldest as a no-operation.
    asm volatile("prefetchw (%0)" : : "r"(address));
#elif defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    static_cast<void>(address);
#endif
}

/// Asks for the cache line of `address` ahead of the load that will need it. A hint, as above.
inline void prefetchForRead(const void* address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(address, 0);
#else
    static_cast<void>(address);
#endif
}

/// Asks for both ends of an object that will be written: all of it if it is no longer than a cache
/// line, wherever it lies.
template <class T>
void prefetchEndsForWrite(const T& object) noexcept {
    const auto* const begin = reinterpret_cast<const unsigned char*>(&object);
    prefetchForWrite(begin);
    prefetchForWrite(begin + sizeof(T) - 1);
}

}  // namespace sluice
