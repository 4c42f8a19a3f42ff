#pragma once

#include <sluice/base/platform.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice {

struct BlockPoolTraits {
    using Platform = StdPlatform;
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;

    /// The number of blocks that a thread's cache exchanges with its pool in one step. A thread
    /// caches at most 2 * magazineRounds + 1 free blocks.
    static constexpr std::size_t magazineRounds = 64;
};

/// Reports blocks that are still in use when their pool is destroyed.
struct BlockLeak {
    const char* name;  ///< the pool's name from its options
    std::size_t blocks;
    std::size_t blockSize;
};

struct BlockPoolOptions {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    std::size_t blockSize = 0;                          ///< bytes, at least 1
    std::size_t alignment = alignof(std::max_align_t);  ///< a power of two
    std::size_t capacity = unlimited;  ///< the largest number of blocks; required by FixedBlockPool
    std::size_t initialBlocks = 0;     ///< blocks that the constructor allocates
    /// Blocks per slab. With 0, a slab doubles the pool, but has 1 KiB to max(64 KiB, 8 blocks).
    std::size_t blocksPerSlab = 0;
    /// Makes a BlockPool work like a FixedBlockPool, without growth and caches.
    bool isExact = false;
    /// Touches each page of a new slab, so that later uses cause no page faults.
    bool prefault = false;
    /// Requests huge pages from the kernel. With huge pages, slabs are multiples of 2 MiB.
    bool hugePages = false;
    const char* name = "BlockPool";  ///< for the leak report
    /// Called by the pool's destructor if blocks are in use. Without onLeak, an assertion fails.
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;
};

/// The counts are exact while no thread calls the pool.
struct BlockPoolStatistics {
    std::size_t blocks;       ///< used and free blocks
    std::size_t inUse;        ///< blocks in use
    std::size_t highWater;    ///< the most blocks in use or in threads' caches so far
    std::uint64_t exhausted;  ///< allocations that found no block
};

}  // namespace sluice
