#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/detail/block_options.hpp>
#include <sluice/memory/detail/sharded_free_list.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>

namespace sluice::detail {

/// Blocks of one size and one list of the free blocks. The constructor allocates all blocks. Any
/// thread and any interrupt can get each free block, because no thread keeps blocks for itself.
///
/// Progress: lock-free, except the constructor and the destructor. So an interrupt may take and
/// give blocks at any point of the program that it interrupts.
///
/// Edges: E1 free of TaggedHead: block given -> block taken.
///
/// Invariant: the successor of a node is `used` from the time its block is taken until the block is
/// given back. A slow thread in pop() may read `used` there. Its exchange then fails: the head has
/// changed.
///
/// Tests: tests/unit/memory/exact_object_pool_test.cpp.
template <class Traits>
class ExactBlocks {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Number = typename FreeListHead<Platform>::Number;

    struct Node {
        FreeListNext<Platform> next{0};
    };
    struct ListTraits : Traits {
        static constexpr std::size_t shards = 1;
    };
    using FreeList = ShardedFreeList<ListTraits, Node>;

public:
    /// Refuses (see setupError) as BlockPool does, and also more blocks than a free list can have.
    ExactBlocks(const BlockPoolOptions& options, std::pmr::memory_resource* memory)
        : options_(checkedCapacity(checkedOptions(options))),
          layout_(layoutOf(options)),
          nodes_(options.capacity, memory),
          slab_(Slab::create(layout_, options.capacity, memory)),
          free_(nodes_.first, options.capacity) {}
    ExactBlocks(const ExactBlocks&) = delete;
    ExactBlocks& operator=(const ExactBlocks&) = delete;

    ~ExactBlocks() { Slab::destroy(slab_, layout_, nodes_.memory); }

    /// A free block, or null when there was none at some moment during the call.
    [[nodiscard]] void* take() noexcept {
        Node* const node = free_.take();
        if (__builtin_expect(node == nullptr, 0)) {
            return nullptr;
        }
        node->next.store(used, std::memory_order_relaxed);  // relaxed: the block is the caller's
        // Relaxed: figures.
        storeMax(highWater_, inUse_.fetch_add(1, std::memory_order_relaxed) + 1);
        return slab_.block(static_cast<std::size_t>(node - nodes_.first), layout_);
    }

    /// Takes a block of this pool back. A block that is free already ends the program.
    void give(void* block) noexcept {
        Node& node = nodes_.first[slab_.indexOf(block, layout_)];
        if (__builtin_expect(!isUsed(block), 0)) {
            failFreedTwice(block);
        }
        // Counts before another thread can take the block: the count never exceeds the capacity.
        inUse_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a figure
        free_.give(node);
    }

    /// Whether a block of this pool begins at this address.
    [[nodiscard]] bool owns(const void* address) const noexcept {
        return slab_.covers(address, layout_) && slab_.hasBlockAt(address, layout_);
    }

    /// Whether a block of this pool is used. For the thread that frees the block.
    [[nodiscard]] bool isUsed(const void* block) const noexcept {
        // Relaxed: the thread that frees a block knows of its allocation.
        return nodes_.first[slab_.indexOf(block, layout_)].next.load(std::memory_order_relaxed) ==
               used;
    }

    [[nodiscard]] BlockPoolStatistics statistics(std::uint64_t exhausted) const noexcept {
        // Relaxed, all: figures.
        return {options_.capacity, inUse_.load(std::memory_order_relaxed),
                highWater_.load(std::memory_order_relaxed), exhausted, 0};
    }

private:
    static constexpr Number used = std::numeric_limits<Number>::max();

    /// Not in the blocks: a slow thread in pop() may read the node of a block that is in use.
    struct Nodes {
        Nodes(std::size_t nodes, std::pmr::memory_resource* resource)
            : memory(resource),
              count(nodes),
              first(static_cast<Node*>(memory->allocate(count * sizeof(Node), alignof(Node)))) {
            for (std::size_t i = 0; i < count; ++i) {
                ::new (first + i) Node;
            }
        }
        Nodes(const Nodes&) = delete;
        Nodes& operator=(const Nodes&) = delete;
        ~Nodes() {
            for (std::size_t i = 0; i < count; ++i) {
                first[i].~Node();
            }
            memory->deallocate(first, count * sizeof(Node), alignof(Node));
        }

        std::pmr::memory_resource* const memory;
        const std::size_t count;
        Node* const first;
    };

    static const BlockPoolOptions& checkedCapacity(const BlockPoolOptions& options) {
        const std::size_t most =
            std::min<std::size_t>(mostFreeNodes<Platform>, mostBlocksOf(options));
        requireAtMost("capacity of an exact pool is too large", options.capacity, most);
        return options;
    }

    const BlockPoolOptions options_;
    const SlabLayout layout_;
    Nodes nodes_;
    Slab& slab_;
    FreeList free_;
    Atomic<std::size_t> inUse_{0};
    Atomic<std::size_t> highWater_{0};
};

/// An exact pool on a platform without threads. It needs no heap.
template <class Traits>
class SingleCoreExactPool {
    using Platform = typename Traits::Platform;

public:
    SingleCoreExactPool(const BlockPoolOptions& options, std::pmr::memory_resource* memory)
        : options_(options), blocks_(options, memory) {
        toldOfPool(this);
    }
    SingleCoreExactPool(const SingleCoreExactPool&) = delete;
    SingleCoreExactPool& operator=(const SingleCoreExactPool&) = delete;
    ~SingleCoreExactPool() {
        reportLeak(options_, statistics().inUse);
        toldOfPoolsEnd(this);
    }

    [[nodiscard]] void* tryAllocate() noexcept {
        void* const block = blocks_.take();
        if (__builtin_expect(block == nullptr, 0)) {
            exhausted_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
            return nullptr;
        }
        toldOfAllocation(this, block, options_.blockSize);
        return block;
    }

    [[nodiscard]] void* allocate() {
        void* const block = tryAllocate();
        if (__builtin_expect(block == nullptr, 0)) {
            failToAllocate(options_);
        }
        return block;
    }

    /// Null is allowed.
    void deallocate(void* block) noexcept {
        if (block != nullptr) {
            SLUICE_ASSERT(blocks_.owns(block), noBlockAt(block).text);
            toldOfDeallocation(this, block, options_.blockSize);
            blocks_.give(block);
        }
    }

    /// An exact pool keeps its memory.
    std::size_t trim() noexcept { return 0; }

    [[nodiscard]] BlockPoolStatistics statistics() const noexcept {
        // Relaxed: a figure.
        return blocks_.statistics(exhausted_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }

private:
    const BlockPoolOptions options_;
    ExactBlocks<Traits> blocks_;
    typename Platform::template Atomic<CounterWord> exhausted_{0};
};

}  // namespace sluice::detail
