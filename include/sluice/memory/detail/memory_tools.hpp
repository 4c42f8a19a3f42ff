#pragma once

/// \file
/// What AddressSanitizer and Valgrind are told about the blocks of a pool. Nothing at all where
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

/// Blocks that different threads use must begin at multiples of this: AddressSanitizer notes 8 bytes
/// at a time what may be used, and not atomically.
#if defined(SLUICE_DETAIL_ASAN)
inline constexpr std::size_t toolGranule = 8;
#else
inline constexpr std::size_t toolGranule = 1;
#endif

/// The slab belongs to the pool from now on; none of it may be used.
inline void toldOfSlab([[maybe_unused]] const void* slab, [[maybe_unused]] std::size_t bytes) {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_poison_memory_region(slab, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_CREATE_MEMPOOL(slab, 0, 0);
    VALGRIND_MAKE_MEM_NOACCESS(slab, bytes);
#endif
}

/// The slab goes back to where it came from.
inline void toldOfSlabsEnd([[maybe_unused]] const void* slab, [[maybe_unused]] std::size_t bytes) {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_unpoison_memory_region(slab, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_DESTROY_MEMPOOL(slab);
    VALGRIND_MAKE_MEM_UNDEFINED(slab, bytes);
#endif
}

/// The block may be used: `bytes` of it and no more.
inline void toldOfAllocation([[maybe_unused]] const void* block,
                             [[maybe_unused]] std::size_t bytes) {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_unpoison_memory_region(block, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MAKE_MEM_UNDEFINED(block, bytes);
#endif
}

/// The block may not be used any more.
inline void toldOfDeallocation([[maybe_unused]] const void* block,
                               [[maybe_unused]] std::size_t bytes) {
#if defined(SLUICE_DETAIL_ASAN)
    __asan_poison_memory_region(block, bytes);
#endif
#if defined(SLUICE_DETAIL_VALGRIND)
    VALGRIND_MAKE_MEM_NOACCESS(block, bytes);
#endif
}

}  // namespace sluice::detail

#undef SLUICE_DETAIL_ASAN
#undef SLUICE_DETAIL_VALGRIND
