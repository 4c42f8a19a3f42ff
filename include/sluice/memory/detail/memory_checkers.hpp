#pragma once

/// \file
/// Tells AddressSanitizer and Valgrind of the blocks of a pool. Without both, it does nothing.

#include <cstddef>

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
#if !defined(NDEBUG) && __has_include(<valgrind/memcheck.h>)
#define SLUICE_DETAIL_VALGRIND
#include <valgrind/memcheck.h>
#endif

namespace sluice::detail {

/// Blocks must begin at multiples of this, because threads use neighbouring blocks at once.
/// AddressSanitizer has one state for 8 bytes, and does not change it atomically.
#if defined(SLUICE_DETAIL_ASAN)
inline constexpr std::size_t checkerGranule = 8;
#else
inline constexpr std::size_t checkerGranule = 1;
#endif

/// Called when a pool begins. Its address names the pool in later calls.
inline void toldOfPool([[maybe_unused]] const void* pool) noexcept {
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
#endif
}

/// Called when a pool ends, before it frees its slabs.
inline void toldOfPoolsEnd([[maybe_unused]] const void* pool) noexcept {
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_DESTROY_MEMPOOL(pool);
#endif
}

/// From now on the program must not use this memory.
inline void closeMemory([[maybe_unused]] const void* begin,
                        [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_poison_memory_region(begin, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MAKE_MEM_NOACCESS(begin, bytes);
#endif
}

/// From now on the program may use this memory. Its content is undefined.
inline void openMemory([[maybe_unused]] const void* begin,
                       [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_unpoison_memory_region(begin, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MAKE_MEM_UNDEFINED(begin, bytes);
#endif
}

/// From now on the program may use the first `bytes` of the block.
inline void toldOfAllocation([[maybe_unused]] const void* pool, const void* block,
                             std::size_t bytes) noexcept {
    openMemory(block, bytes);
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MEMPOOL_ALLOC(pool, block, bytes);
#endif
}

/// From now on the program must not use the block.
inline void toldOfDeallocation([[maybe_unused]] const void* pool, const void* block,
                               std::size_t bytes) noexcept {
    closeMemory(block, bytes);
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MEMPOOL_FREE(pool, block);
#endif
}

}  // namespace sluice::detail

#undef SLUICE_DETAIL_ASAN
#undef SLUICE_DETAIL_VALGRIND
