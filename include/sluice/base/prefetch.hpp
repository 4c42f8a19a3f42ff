#pragma once

namespace sluice {

/// Asks for the cache line of `address` with the right to write it, before a store needs the line.
/// It is a hint: it reads and writes nothing and never faults, so any address is allowed.
inline void prefetchForWrite(const void* address) noexcept {
#if defined(__x86_64__)
    // The builtin would ask for a shared copy unless the target is known to have this instruction.
    // All x86-64 processors execute it, the oldest as a no-operation.
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/// Asks for the cache line of `address`, before a load needs the line. It is a hint, as above.
inline void prefetchForRead(const void* address) noexcept {
    __builtin_prefetch(address, 0);
}

/// Asks for the first and the last line of an object that will be written. This is the whole object
/// if it is at most as long as a cache line.
template <class T>
void prefetchEndsForWrite(const T& object) noexcept {
    const auto* const begin = reinterpret_cast<const unsigned char*>(&object);
    prefetchForWrite(begin);
    prefetchForWrite(begin + sizeof(T) - 1);
}

}  // namespace sluice
