#pragma once

#include <sluice/memory/block_pool.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <memory_resource>
#include <new>

namespace sluice {

/// The allocator of PoolQueueList's nodes. It has no state, so all allocators are equal.
template <class T, std::size_t NodesPerSlab>
class PoolQueueAllocator {
    static_assert(NodesPerSlab > 0, "a PoolQueueList grows by at least one node");

public:
    using value_type = T;
    template <class U>
    struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
        // NOLINTNEXTLINE(readability-identifier-naming): the standard's name
        using other = PoolQueueAllocator<U, NodesPerSlab>;
    };

    PoolQueueAllocator() noexcept = default;
    template <class U>
    PoolQueueAllocator(const PoolQueueAllocator<U, NodesPerSlab>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        return count == 1 ? static_cast<T*>(pool().allocate())
                          : std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (count == 1) {
            pool().deallocate(memory);
        } else {
            std::allocator<T>().deallocate(memory, count);
        }
    }

    /// The pool of the nodes, for its statistics.
    static BlockPool& pool() {
        (void)&fromTheStart_;
        static BlockPool& shared = *new BlockPool(options(), std::pmr::new_delete_resource());
        return shared;
    }

    template <class U>
    friend bool operator==(const PoolQueueAllocator&,
                           const PoolQueueAllocator<U, NodesPerSlab>&) noexcept {
        return true;
    }
    template <class U>
    friend bool operator!=(const PoolQueueAllocator&,
                           const PoolQueueAllocator<U, NodesPerSlab>&) noexcept {
        return false;
    }

private:
    /// Makes the pool before main(). If a thread made it while another thread forks, the child
    /// would have an unfinished pool, and wait for it for ever.
    inline static const BlockPool& fromTheStart_ = pool();

    static BlockPoolOptions options() noexcept {
        BlockPoolOptions result;
        result.blockSize = sizeof(T);
        result.alignment = alignof(T);
        result.blocksPerSlab = NodesPerSlab;
        result.name = "PoolQueueList";
        return result;
    }
};

/// A list type for the policy QueueList. Its nodes come from a pool.
///
/// Purpose: a std::list without malloc for each node.
///
///     sluice::PoolQueueList<Order> orders;
///
///     struct Policies {
///         template <class Item>
///         using QueueList = sluice::PoolQueueList<Item, 8192>;
///     };
///
/// A queue with these policies does not use the list. It keeps its events in blocks of nodes of its
/// own, like a queue without a QueueList, because these blocks are faster.
///
/// All lists of one type share one pool, so that a list can splice another one. The pool grows by
/// NodesPerSlab nodes. It is created before main(), and never destroyed, because lists of static
/// storage duration may use it until the end. Threads: any thread may use the pool; a list is like
/// a std::list. Errors: std::bad_alloc.
///
/// Tests: tests/unit/eventpp/pool_queue_list_test.cpp.
template <class T, std::size_t NodesPerSlab = 4096>
using PoolQueueList = std::list<T, PoolQueueAllocator<T, NodesPerSlab>>;

}  // namespace sluice
