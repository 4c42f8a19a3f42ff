#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/block_pool_options.hpp>
#include <sluice/memory/detail/free_list.hpp>
#include <sluice/memory/detail/slab.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>

namespace sluice {

/// A fixed number of blocks of one size, with a lock-free list of the free blocks.
///
///     sluice::BlockPoolOptions options;
///     options.blockSize = 256;
///     options.capacity = 100;
///     sluice::FixedBlockPool blocks(options);
///     if (void* const block = blocks.tryAllocate()) {
///         blocks.deallocate(block);  // on any thread
///     }
///
/// Use FixedBlockPool for exact limits, for allocation in interrupts, or on microcontrollers (with
/// SingleCorePlatform). Use BlockPool for many threads, and ObjectPool for objects.
///
/// Thread safety: any thread and any interrupt may call any member. All calls are lock-free. The
/// constructor allocates all memory.
///
/// Errors: tryAllocate() fails only if all blocks were in use at some moment during the call.
/// Freeing a block twice ends the program in all builds. Without 64-bit atomics a pool has at most
/// 4,095 blocks, and a call must not be preempted during a million other calls (see TaggedHead).
template <class Traits = BlockPoolTraits>
class BasicFixedBlockPool {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

    struct Node {
        detail::FreeListNext<Platform> next{0};
    };

public:
    /// Calls setupError() for options that BlockPool rejects, and for an unlimited capacity.
    explicit BasicFixedBlockPool(
        const BlockPoolOptions& options,
        std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : options_(checked(options)),
          layout_(options),
          nodes_(options.capacity, memory),
          slab_(detail::Slab::create(layout_, options.capacity, memory)),
          free_(nodes_.first, options.capacity) {}

    /// If blocks are in use, calls Options::onLeak or fails an assertion. Invalidates all blocks.
    ~BasicFixedBlockPool() {
        detail::reportLeak(options_, statistics().inUse);
        slab_.destroy(layout_, nodes_.memory);
    }

    /// Returns a block with undefined content, or null if all blocks are in use.
    [[nodiscard]] void* tryAllocate() noexcept {
        Node* const node = free_.take();
        if (SLUICE_UNLIKELY(node == nullptr)) {
            exhausted_.fetch_add(1, std::memory_order_relaxed);
            return nullptr;
        }
        node->next.store(used, std::memory_order_relaxed);
        storeMax(highWater_, inUse_.fetch_add(1, std::memory_order_relaxed) + 1);
        void* const block = slab_.block(static_cast<std::size_t>(node - nodes_.first), layout_);
        detail::openMemory(block, options_.blockSize);
        return block;
    }

    /// Throws std::bad_alloc if all blocks are in use. Ends the program if exceptions are disabled.
    [[nodiscard]] void* allocate() {
        void* const block = tryAllocate();
        if (SLUICE_UNLIKELY(block == nullptr)) {
            detail::failToAllocate(options_);
        }
        return block;
    }

    /// Takes back a block; null is allowed.
    void deallocate(void* block) noexcept {
        if (block == nullptr) {
            return;
        }
        SLUICE_ASSERT(owns(block), detail::noBlockAt(block).text);
        Node& node = nodes_.first[slab_.indexOf(block, layout_)];
        if (SLUICE_UNLIKELY(node.next.load(std::memory_order_relaxed) != used)) {
            detail::failFreedTwice(block);
        }
        detail::closeMemory(block, options_.blockSize);
        // inUse_ must decrease first, because another thread may take the block after give().
        inUse_.fetch_sub(1, std::memory_order_relaxed);
        free_.give(node);
    }

    /// Returns true if a used or free block of this pool begins at `address`.
    [[nodiscard]] bool owns(const void* address) const noexcept {
        return slab_.hasBlockAt(address, layout_);
    }

    std::size_t trim() noexcept { return 0; }

    [[nodiscard]] BlockPoolStatistics statistics() const noexcept {
        return {options_.capacity, inUse_.load(std::memory_order_relaxed),
                highWater_.load(std::memory_order_relaxed),
                exhausted_.load(std::memory_order_relaxed)};
    }

    [[nodiscard]] std::size_t blockSize() const noexcept { return options_.blockSize; }
    [[nodiscard]] std::size_t alignment() const noexcept { return options_.alignment; }
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }

private:
    // Edge E1 of TaggedHead: deallocate -> tryAllocate (proof: docs/algorithms/pools.md). Accesses
    // outside of free_ are relaxed: they only count blocks or mark nodes as `used`.
    // Invariant: a node's successor is `used` while the node's block is in use.

    using Number = typename detail::FreeListHead<Platform>::Number;
    static constexpr Number used = std::numeric_limits<Number>::max();

    /// Stored outside the blocks, because a slow thread may read the node of a block in use.
    struct Nodes {
        Nodes(std::size_t nodes, std::pmr::memory_resource* resource)
            : memory(resource),
              count(nodes),
              first(static_cast<Node*>(memory->allocate(count * sizeof(Node), alignof(Node)))) {
            for (std::size_t i = 0; i < count; ++i) {
                ::new (first + i) Node;
            }
        }
        ~Nodes() { memory->deallocate(first, count * sizeof(Node), alignof(Node)); }

        std::pmr::memory_resource* const memory;
        const std::size_t count;
        Node* const first;
    };

    static const BlockPoolOptions& checked(const BlockPoolOptions& options) {
        const std::size_t most =
            std::min<std::size_t>(detail::mostFreeNodes<Platform>,
                                  detail::SlabLayout(detail::checkedOptions(options)).mostBlocks());
        detail::requireAtMost("capacity of a fixed pool is too large", options.capacity, most);
        return options;
    }

    const BlockPoolOptions options_;
    const detail::SlabLayout layout_;
    Nodes nodes_;
    const detail::Slab slab_;
    detail::FreeList<Platform, Node> free_;
    Atomic<std::size_t> inUse_{0};
    Atomic<std::size_t> highWater_{0};
    Atomic<CounterWord> exhausted_{0};
};

using FixedBlockPool = BasicFixedBlockPool<>;

}  // namespace sluice
