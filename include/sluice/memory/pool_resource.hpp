#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/block_pool.hpp>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>

namespace sluice {

struct PoolResourceOptions {
    std::size_t largestBlock = 4096;  ///< the largest pooled block: a power of two, 16 to 65536
    std::size_t capacity = BlockPoolOptions::unlimited;   ///< the largest number of blocks per size
    bool largeFromUpstream = true;                        ///< false: refuses blocks > largestBlock
    const char* name = "PoolResource";                    ///< for the leak reports
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;  ///< see BlockPoolOptions
};

/// A std::pmr::memory_resource with a BlockPool for each block size.
///
///     sluice::PoolResource resource;
///     std::pmr::list<int> numbers({1, 2, 3}, &resource);
///     auto shared = std::allocate_shared<Order>(sluice::PoolAllocator<Order>(resource));
///
/// Use PoolResource with std::pmr containers, or through PoolAllocator. Use BlockPool for one size.
///
/// Sizes are rounded up to a power of two. Blocks with a size or alignment above
/// Options::largestBlock are allocated from the upstream resource.
///
/// Thread safety: any thread may call any member. The upstream resource must support calls from
/// several threads. The PoolResource must outlive all memory that it provides.
///
/// Errors: allocate() throws std::bad_alloc if the upstream resource has no memory or the pool for
/// the requested size is exhausted. Without exceptions, allocate() calls failAssertion().
class PoolResource : public std::pmr::memory_resource {
public:
    /// Calls setupError() for options that BlockPool rejects, and for a largestBlock that is not a
    /// power of two from 16 to 65536.
    explicit PoolResource(const PoolResourceOptions& options = {},
                          std::pmr::memory_resource* upstream = std::pmr::get_default_resource())
        : options_(checked(options)), upstream_(upstream) {
        for (std::size_t index = 0; sizeOf(index) <= options.largestBlock; ++index) {
            BlockPoolOptions blocks;
            blocks.blockSize = sizeOf(index);
            blocks.alignment = sizeOf(index);
            blocks.capacity = options.capacity;
            blocks.name = options.name;
            blocks.onLeak = options.onLeak;
            pools_[index].emplace(blocks, upstream);
        }
    }

    /// Like allocate(), but without a virtual call. Returns null instead of throwing.
    [[nodiscard]] void* tryAllocateBytes(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t index = indexOf(bytes, alignment);
        if (serves(bytes, alignment)) {
            return pools_[index]->tryAllocate();
        }
        return options_.largeFromUpstream ? tryUpstream(bytes, alignment) : nullptr;
    }

    /// Like allocate(), but without a virtual call.
    [[nodiscard]] void* allocateBytes(std::size_t bytes, std::size_t alignment) {
        void* const block = tryAllocateBytes(bytes, alignment);
        if (SLUICE_UNLIKELY(block == nullptr)) {
            detail::allocationError("a PoolResource is exhausted or has no pool for this size",
                                    bytes, options_.largestBlock);
        }
        return block;
    }

    /// Like deallocate(), but without a virtual call.
    void deallocateBytes(void* block, std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t index = indexOf(bytes, alignment);
        if (serves(bytes, alignment)) {
            pools_[index]->deallocate(block);
        } else {
            upstream_->deallocate(block, bytes, alignment);
        }
    }

    /// Searches all slabs for `block` and deallocates it. Returns false if no pool owns `block`.
    [[nodiscard]] bool tryDeallocateUnsized(void* block) noexcept {
        for (auto& pool : pools_) {
            if (pool.has_value() && pool->owns(block)) {
                pool->deallocate(block);
                return true;
            }
        }
        return false;
    }

    /// Returns true if a pool allocates blocks of this size and alignment.
    [[nodiscard]] bool serves(std::size_t bytes, std::size_t alignment) const noexcept {
        return bytes <= options_.largestBlock && alignment <= options_.largestBlock;
    }

    /// Frees unused memory to the upstream resource. Returns the number of freed bytes.
    std::size_t trim() noexcept {
        std::size_t bytes = 0;
        for (auto& pool : pools_) {
            bytes += pool.has_value() ? pool->trim() : 0;
        }
        return bytes;
    }

    /// The statistics of the pool for blocks of `bytes` bytes, at most largestBlock.
    [[nodiscard]] BlockPoolStatistics statistics(std::size_t bytes) const noexcept {
        const std::size_t index = indexOf(bytes, 1);
        SLUICE_ASSERT(sizeOf(index) <= options_.largestBlock,
                      "no pool serves this size: ask for one up to largestBlock");
        return pools_[index]->statistics();
    }

private:
    static constexpr std::size_t smallest = 16;
    static constexpr std::size_t poolCount = 13;
    static constexpr std::size_t largest = smallest << (poolCount - 1);

    static constexpr std::size_t sizeOf(std::size_t index) noexcept { return smallest << index; }

    /// The index of the pool with the smallest sufficient blocks, or poolCount if none suffice.
    static std::size_t indexOf(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t need = bytes < alignment ? alignment : bytes;
        if (need <= smallest) {
            return 0;
        }
        if (need > largest) {
            return poolCount;
        }
#if defined(_MSC_VER) && !defined(__clang__)
        unsigned long highest = 0;
        (void)_BitScanReverse64(&highest, need - 1);
#else
        const auto highest =
            31U ^ static_cast<unsigned>(__builtin_clz(static_cast<unsigned>(need - 1)));
#endif
        return highest - 3;
    }

    static PoolResourceOptions checked(const PoolResourceOptions& options) {
        const std::size_t size = options.largestBlock;
        detail::requireAtLeast("largestBlock of a PoolResource is too small", size, smallest);
        detail::requireAtMost("largestBlock of a PoolResource is too large", size, largest);
        detail::requirePowerOfTwo("largestBlock of a PoolResource is not a power of two", size,
                                  largest);
        return options;
    }

    [[gnu::noinline]] void* tryUpstream(std::size_t bytes, std::size_t alignment) noexcept {
        return detail::resultOrDefault([&] { return upstream_->allocate(bytes, alignment); });
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        return allocateBytes(bytes, alignment);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        deallocateBytes(block, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    const PoolResourceOptions options_;
    std::pmr::memory_resource* const upstream_;
    std::array<std::optional<BlockPool>, poolCount> pools_;
};

}  // namespace sluice
