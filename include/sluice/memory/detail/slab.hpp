#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/block_pool_options.hpp>
#include <sluice/memory/detail/misuse.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Slabs, options and messages of FixedBlockPool and BlockPool.

namespace sluice::detail {

/// The largest size of a pool in bytes. Sums of two sizes up to mostBytes do not overflow.
inline constexpr std::size_t mostBytes = std::numeric_limits<std::size_t>::max() / 4;

inline constexpr std::size_t hugePage = std::size_t{2} << 20;

struct SlabLayout {
    explicit SlabLayout(const BlockPoolOptions& options) noexcept
        : alignment(options.alignment),
          stride((options.blockSize + unit(options) - 1) / unit(options) * unit(options)),
          prefault(options.prefault),
          hugePages(options.hugePages) {}

    /// Returns a multiple of the huge page size if huge pages are used.
    std::size_t bytesOf(std::size_t blocks) const noexcept {
        const std::size_t bytes = blocks * stride;
        return hugePages ? (bytes + hugePage - 1) / hugePage * hugePage : bytes;
    }
    std::size_t slabAlignment() const noexcept {
        return hugePages ? std::max(alignment, hugePage) : alignment;
    }
    std::size_t mostBlocks() const noexcept { return mostBytes / stride; }

    std::size_t alignment;
    std::size_t stride;  ///< the block size, rounded up to the alignment
    bool prefault;
    bool hugePages;

private:
    static std::size_t unit(const BlockPoolOptions& options) noexcept {
        return std::max(options.alignment, checkerGranule);
    }
};

/// Consecutive blocks in one allocation.
struct Slab {
    std::byte* begin;
    std::size_t count;
    std::size_t freeBlocks;  ///< set by trim(); 0 at other times

    static Slab create(const SlabLayout& layout, std::size_t count,
                       std::pmr::memory_resource* memory) {
        const std::size_t bytes = layout.bytesOf(count);
        auto* const begin =
            static_cast<std::byte*>(memory->allocate(bytes, layout.slabAlignment()));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (layout.hugePages) {
            (void)::madvise(begin, bytes, MADV_HUGEPAGE);  // may fail
        }
#endif
        if (layout.prefault) {
            constexpr std::size_t page = 4096;
            for (std::size_t at = 0; at < bytes; at += page) {
                *static_cast<volatile std::byte*>(begin + at) = std::byte{0};
            }
            *static_cast<volatile std::byte*>(begin + bytes - 1) = std::byte{0};
        }
        closeMemory(begin, bytes);
        return {begin, count, 0};
    }
    /// Returns the number of freed bytes.
    std::size_t destroy(const SlabLayout& layout,
                        std::pmr::memory_resource* memory) const noexcept {
        const std::size_t bytes = layout.bytesOf(count);
        openMemory(begin, bytes);
        memory->deallocate(begin, bytes, layout.slabAlignment());
        return bytes;
    }

    void* block(std::size_t index, const SlabLayout& layout) const noexcept {
        return begin + index * layout.stride;
    }
    bool covers(const void* address, const SlabLayout& layout) const noexcept {
        return offsetOf(address) < count * layout.stride;
    }
    bool hasBlockAt(const void* address, const SlabLayout& layout) const noexcept {
        return covers(address, layout) && offsetOf(address) % layout.stride == 0;
    }
    std::size_t indexOf(const void* block, const SlabLayout& layout) const noexcept {
        return offsetOf(block) / layout.stride;
    }

private:
    std::size_t offsetOf(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin);
    }
};

/// Calls setupError() if no pool can be made with the options.
inline const BlockPoolOptions& checkedOptions(const BlockPoolOptions& options) {
    requireAtLeast("block size of a BlockPool is too small", options.blockSize, 1);
    requireAtMost("block size of a BlockPool is too large", options.blockSize, mostBytes);
    requirePowerOfTwo("alignment of a BlockPool is not a power of two", options.alignment,
                      alignof(std::max_align_t));
    requireAtMost("alignment of a BlockPool is too large", options.alignment, mostBytes);
    requireAtLeast("capacity of a BlockPool is too small", options.capacity, 1);
    const std::size_t most = SlabLayout(options).mostBlocks();
    if (options.capacity != BlockPoolOptions::unlimited) {
        requireAtMost("capacity of a BlockPool is too large", options.capacity, most);
    }
    requireAtMost("blocksPerSlab of a BlockPool is too large", options.blocksPerSlab, most);
    requireAtMost("initialBlocks of a BlockPool exceed its capacity", options.initialBlocks,
                  options.capacity);
    requireAtMost("initialBlocks of a BlockPool are too many", options.initialBlocks, most);
    return options;
}

inline AssertionText noBlockAt(const void* block) noexcept {
    return {"no block of this pool begins at ", block, "; give it back to where it came from"};
}

inline AssertionText freedTwice(const void* block) noexcept {
    return {"the block at ", block, " is free already: it was freed twice"};
}
[[noreturn, gnu::cold, gnu::noinline]] inline void failFreedTwice(const void* block) noexcept {
    failAssertion({"", freedTwice(block).text, __FILE__, __LINE__});
}

inline void reportLeak(const BlockPoolOptions& options, std::size_t used) noexcept {
    if (used != 0 && options.onLeak != nullptr) {
        options.onLeak(BlockLeak{options.name, used, options.blockSize});
    } else {
        SLUICE_ASSERT(used == 0, AssertionText("blocks that outlive their pool: ", used,
                                               "; free them first, or set onLeak")
                                     .text);
    }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void failToAllocate(const BlockPoolOptions& options) {
    allocationError("a BlockPool is exhausted; its block size and capacity are", options.blockSize,
                    options.capacity);
}

}  // namespace sluice::detail
