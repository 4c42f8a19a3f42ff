#pragma once

#include <sluice/base/platform.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice {

struct BlockPoolTraits {
    using Platform = StdPlatform;
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;

    /// The number of blocks that a thread of a growing pool exchanges with the depot. A thread
    /// caches at most twice as many free blocks, and one more.
    static constexpr std::size_t magazineRounds = 64;
};

/// Blocks that are still in use when their pool ends.
struct BlockLeak {
    const char* name;  ///< the pool's name from its options
    std::size_t blocks;
    std::size_t blockSize;
};

/// The settings of a BlockPool or a FixedBlockPool.
struct BlockPoolOptions {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    std::size_t blockSize = 0;                          ///< bytes, at least 1
    std::size_t alignment = alignof(std::max_align_t);  ///< a power of two
    std::size_t capacity = unlimited;  ///< the most blocks; a fixed pool must have one
    std::size_t initialBlocks = 0;     ///< blocks that the constructor allocates
    /// The blocks of a new slab. 0: as many as the pool has, from 1 KiB up to 64 KiB or 8 blocks.
    std::size_t blocksPerSlab = 0;
    /// A BlockPool then works like a FixedBlockPool: no growth, no caches.
    bool isExact = false;
    /// Touch each page of a new slab, so that no later use has a page fault.
    bool prefault = false;
    /// Ask the kernel for huge pages. A slab is then a whole number of 2 MiB pages, by default one.
    bool hugePages = false;
    const char* name = "BlockPool";  ///< for the leak report
    /// Called by the destructor if blocks are in use; without it, an assertion fails.
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;
};

/// The counts of a pool. Exact while no thread calls it.
struct BlockPoolStatistics {
    std::size_t blocks;       ///< blocks of the pool, used or free
    std::size_t inUse;        ///< blocks in use
    std::size_t highWater;    ///< the most blocks in use or in a thread's cache so far
    std::uint64_t exhausted;  ///< allocations that found no block
};

}  // namespace sluice
