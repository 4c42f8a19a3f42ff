#pragma once

/// \file
/// Tells AddressSanitizer and Valgrind of the blocks of a pool. Nothing at all where
/// neither is at work.

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

/// Blocks that different threads use must begin at multiples of this: AddressSanitizer notes 8
/// bytes at a time which ones may be used, and not atomically.
#if defined(SLUICE_DETAIL_ASAN)
inline constexpr std::size_t checkerGranule = 8;
#else
inline constexpr std::size_t checkerGranule = 1;
#endif

/// A pool begins, whose blocks can be told from one another by the address of the pool.
inline void toldOfPool([[maybe_unused]] const void* pool) noexcept {
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
#endif
}

/// The pool ends, before its slabs do.
inline void toldOfPoolsEnd([[maybe_unused]] const void* pool) noexcept {
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_DESTROY_MEMPOOL(pool);
#endif
}

/// None of this memory may be used from now on.
inline void closeMemory([[maybe_unused]] const void* begin,
                        [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_poison_memory_region(begin, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MAKE_MEM_NOACCESS(begin, bytes);
#endif
}

/// This memory may be used again: its content is undefined.
inline void openMemory([[maybe_unused]] const void* begin,
                       [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_unpoison_memory_region(begin, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MAKE_MEM_UNDEFINED(begin, bytes);
#endif
}

/// A block of the pool may be used: `bytes` of it and no more.
inline void toldOfAllocation([[maybe_unused]] const void* pool, const void* block,
                             std::size_t bytes) noexcept {
    openMemory(block, bytes);
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MEMPOOL_ALLOC(pool, block, bytes);
#endif
}

/// The block may not be used any more.
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
