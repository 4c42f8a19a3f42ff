#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/block_pool_options.hpp>
#include <sluice/memory/detail/assertion_text.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>
#include <sluice/memory/detail/slab.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

// The checks of a pool's options, and its messages.

namespace sluice {

namespace detail {

/// The most bytes of all blocks of a pool, so that no sum of bytes overflows.
inline constexpr std::size_t mostBytes = std::numeric_limits<std::size_t>::max() / 4;

inline std::size_t strideOf(const BlockPoolOptions& options) noexcept {
    const std::size_t unit = std::max(options.alignment, checkerGranule);
    return (options.blockSize + unit - 1) / unit * unit;
}

/// The most blocks that `mostBytes` allows.
inline std::size_t mostBlocksOf(const BlockPoolOptions& options) noexcept {
    return mostBytes / strideOf(options);
}

/// Returns the options. Refuses (see setupError) settings that cannot work.
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

/// Ends the program. A release build finds the misuse late: in trim(), or in a deallocation that
/// finds more free blocks than the pool has blocks.
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

/// Called if there is no block for a caller that needs one.
[[noreturn, gnu::cold, gnu::noinline]] inline void failToAllocate(const BlockPoolOptions& options) {
    allocationError("a BlockPool is exhausted; its block size and capacity are", options.blockSize,
                    options.capacity);
}

}  // namespace detail

}  // namespace sluice
