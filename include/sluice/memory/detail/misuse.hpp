#pragma once

/// \file
/// Helpers that find misuse of memory: assertion texts, and marks for AddressSanitizer.

#include <cstddef>
#include <cstdio>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_DETAIL_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_DETAIL_ASAN
#endif

#if defined(SLUICE_DETAIL_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace sluice::detail {

/// An assertion message with a number or an address, created only if the assertion fails:
/// `SLUICE_ASSERT(condition, AssertionText("had ", count, " too many").text)`.
struct AssertionText {
    AssertionText(const char* before, std::size_t count, const char* after) noexcept {
        std::snprintf(text, sizeof text, "%s%llu%s", before, static_cast<unsigned long long>(count),
                      after);
    }
    AssertionText(const char* before, const void* address, const char* after) noexcept {
        std::snprintf(text, sizeof text, "%s%p%s", before, address, after);
    }

    char text[160];
};

#if defined(SLUICE_DETAIL_ASAN)
/// The minimum distance between blocks in bytes. Blocks of different threads must not share 8
/// bytes, because AddressSanitizer keeps one non-atomic state per 8 bytes.
inline constexpr std::size_t checkerGranule = 8;

/// Makes AddressSanitizer report each access to the memory until openMemory().
inline void closeMemory(const void* begin, std::size_t bytes) noexcept {
    __asan_poison_memory_region(begin, bytes);
}
inline void openMemory(const void* begin, std::size_t bytes) noexcept {
    __asan_unpoison_memory_region(begin, bytes);
}
inline bool isClosed(const void* address) noexcept {
    return __asan_address_is_poisoned(address) != 0;
}
#else
inline constexpr std::size_t checkerGranule = 1;
inline void closeMemory(const void*, std::size_t) noexcept {
}
inline void openMemory(const void*, std::size_t) noexcept {
}
inline bool isClosed(const void*) noexcept {
    return false;
}
#endif

}  // namespace sluice::detail

#undef SLUICE_DETAIL_ASAN
