#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/detail/assertion_text.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>
#include <sluice/memory/detail/slab.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

// The options that all pools of blocks have, and their checks.

namespace sluice {

/// Blocks that are still in use when their pool ends.
struct BlockLeak {
    const char* name;  ///< of the pool, as its options give it
    std::size_t blocks;
    std::size_t blockSize;
};

struct BlockPoolOptions {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    std::size_t blockSize = 0;                          ///< bytes, at least 1
    std::size_t alignment = alignof(std::max_align_t);  ///< a power of two
    std::size_t capacity = unlimited;                   ///< the most blocks that are in use at once
    std::size_t initialBlocks = 0;                      ///< blocks that the constructor allocates
    std::size_t blocksPerSlab = 0;  ///< blocks of a new slab; 0: about 64 KiB, at least 8 blocks
    /// Whether the constructor allocates all blocks, and any thread gets each free block. Otherwise
    /// each thread keeps some free blocks for itself. An exact pool must have a capacity.
    bool isExact = false;
    /// Whether the pool touches each page of a new slab, so that no later use has a page fault.
    bool prefault = false;
    /// Whether the pool asks the kernel for huge pages. Then a slab is a whole number of pages of
    /// 2 MiB, by default one.
    bool hugePages = false;
    const char* name = "BlockPool";  ///< for the leak report
    /// The destructor calls it if blocks are still in use. Without it, the destructor fails an
    /// assertion.
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;
};

struct BlockPoolStatistics {
    std::size_t blocks;       ///< blocks of the pool, used or free
    std::size_t inUse;        ///< blocks in use; exact while no thread calls the pool
    std::size_t highWater;    ///< the most blocks that were in use, or in a cache, at once
    std::uint64_t exhausted;  ///< allocations that found no block; a timed one counts once
    /// The blocks that threads have freed beyond those that they allocated themselves. Exact while
    /// no thread calls the pool. Calls of threads that are ending are not counted.
    std::uint64_t remoteFrees;
};

namespace detail {

/// So many bytes can be counted, with all that stands beside them.
inline constexpr std::size_t mostBytes = std::numeric_limits<std::size_t>::max() / 4;

inline std::size_t strideOf(const BlockPoolOptions& options) noexcept {
    const std::size_t unit = std::max(options.alignment, checkerGranule);
    return (options.blockSize + unit - 1) / unit * unit;
}

/// As many as have bytes that can be counted.
inline std::size_t mostBlocksOf(const BlockPoolOptions& options) noexcept {
    return mostBytes / strideOf(options);
}

/// The options, unless something in them cannot be had: that is refused, see setupError().
inline BlockPoolOptions checkedOptions(const BlockPoolOptions& options) {
    requireAtLeast("block size of a BlockPool is too small", options.blockSize, 1);
    requireAtMost("block size of a BlockPool is too large", options.blockSize, mostBytes);
    requirePowerOfTwo("alignment of a BlockPool is not a power of two", options.alignment,
                      alignof(std::max_align_t));
    requireAtMost("alignment of a BlockPool is too large", options.alignment, mostBytes);
    requireAtLeast("capacity of a BlockPool is too small", options.capacity, 1);
    const std::size_t mostBlocks = mostBlocksOf(options);
    if (options.capacity != BlockPoolOptions::unlimited) {
        requireAtMost("capacity of a BlockPool is too large", options.capacity, mostBlocks);
    }
    requireAtMost("blocksPerSlab of a BlockPool is too large", options.blocksPerSlab, mostBlocks);
    requireAtMost("initialBlocks of a BlockPool exceed its capacity", options.initialBlocks,
                  options.capacity);
    requireAtMost("initialBlocks of a BlockPool are too many", options.initialBlocks, mostBlocks);
    return options;
}

inline SlabLayout layoutOf(const BlockPoolOptions& options) noexcept {
    return {strideOf(options), options.alignment, options.prefault, options.hugePages};
}

inline AssertionText freedTwice(const void* block) noexcept {
    return {"the block at ", block, " is free already: it was freed twice"};
}
[[noreturn, gnu::cold, gnu::noinline]] inline void failFreedTwice(const void* block) noexcept {
    failAssertion({"", freedTwice(block).text, __FILE__, __LINE__});
}
inline AssertionText noBlockAt(const void* block) noexcept {
    return {"no block of this pool begins at ", block, "; give it back to where it came from"};
}

/// Also in release builds, where it is seen when the block is to be used again or a slab is to go.
[[noreturn, gnu::cold, gnu::noinline]] inline void failForeign() noexcept {
    failAssertion(
        {"",
         "a pool was given a block of another pool, or the same block twice. For a Pooled "
         "class: create and delete its objects in one shared object, see pooled.hpp",
         __FILE__, __LINE__});
}

/// Reports blocks that are still in use when their pool ends.
inline void reportLeak(const BlockPoolOptions& options, std::size_t used) noexcept {
    if (used != 0 && options.onLeak != nullptr) {
        options.onLeak(BlockLeak{options.name, used, options.blockSize});
    } else {
        SLUICE_ASSERT(used == 0, AssertionText("blocks that outlive their pool: ", used,
                                               "; free them first, or set onLeak")
                                     .text);
    }
}

/// No block is left for a caller that must have one.
[[noreturn, gnu::cold, gnu::noinline]] inline void failToAllocate(const BlockPoolOptions& options) {
    allocationError("a BlockPool is exhausted; its block size and capacity are", options.blockSize,
                    options.capacity);
}

}  // namespace detail

}  // namespace sluice
