#pragma once

/// \file
/// Helps to find misuse of memory: texts of assertions, and marks for AddressSanitizer.

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

/// The message of a failed assertion that names a number or an address. It is built only when the
/// assertion fails: `SLUICE_ASSERT(condition, AssertionText("had ", count, " too many").text)`.
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
/// Blocks begin at multiples of this, because different threads use neighboring blocks, and
/// AddressSanitizer keeps one state for 8 bytes, which it does not change atomically.
inline constexpr std::size_t checkerGranule = 8;

/// Until openMemory(), each access to this memory is reported.
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
