#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice {

/// Blocks that are still in use when their pool ends.
struct BlockLeak {
    const char* name;  ///< the pool's name from its options
    std::size_t blocks;
    std::size_t blockSize;
};

/// The settings of a BlockPool. A pool refuses settings that cannot work, see setupError().
///
///     sluice::BlockPoolOptions options;
///     options.blockSize = 64;
///     options.capacity = 1000;
///     sluice::BlockPool pool(options);
///
/// Tests: tests/unit/memory/block_pool_options_test.cpp.
struct BlockPoolOptions {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    std::size_t blockSize = 0;                          ///< bytes, at least 1
    std::size_t alignment = alignof(std::max_align_t);  ///< a power of two
    std::size_t capacity = unlimited;                   ///< the most blocks that are in use at once
    std::size_t initialBlocks = 0;                      ///< blocks that the constructor allocates
    std::size_t blocksPerSlab = 0;  ///< blocks of a new slab; 0: about 64 KiB, at least 8 blocks
    /// If true, the constructor allocates all blocks, and any thread can get each free block.
    /// Otherwise each thread keeps some free blocks for itself. An exact pool must have a capacity.
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

/// The counts of a BlockPool.
struct BlockPoolStatistics {
    std::size_t blocks;       ///< blocks of the pool, used or free
    std::size_t inUse;        ///< blocks in use; exact while no thread calls the pool
    std::size_t highWater;    ///< the most blocks that were in use, or in a cache, at once
    std::uint64_t exhausted;  ///< allocations that found no block; a timed one counts once
    /// The blocks that threads have freed beyond those that they allocated themselves. Exact while
    /// no thread calls the pool. Calls of threads that are ending are not counted.
    std::uint64_t remoteFrees;
};

}  // namespace sluice
