#pragma once

#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/fixed_block_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

struct ObjectPoolOptions {
    static constexpr std::size_t unlimited = BlockPoolOptions::unlimited;

    std::size_t capacity = unlimited;  ///< the largest number of live objects
    std::size_t exactUpTo = 1024;      ///< the largest capacity that selects a FixedBlockPool
    std::size_t initialObjects = 0;    ///< objects whose memory the constructor allocates
    std::size_t objectsPerSlab = 0;    ///< see BlockPoolOptions::blocksPerSlab
    bool prefault = false;             ///< see BlockPoolOptions
    bool hugePages = false;            ///< see BlockPoolOptions
    const char* name = nullptr;        ///< for the leak report; null: a text that names T
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;  ///< see BlockPoolOptions
};

template <class T, class Traits = BlockPoolTraits>
class ObjectPool;

template <class T, class Traits = BlockPoolTraits>
struct PoolDeleter {
    void operator()(T* object) const noexcept { ObjectPool<T, Traits>::destroy(object); }
};

/// Owns one object of an ObjectPool<T>, or nothing. A PoolPtr has the size of a pointer.
template <class T, class Traits = BlockPoolTraits>
using PoolPtr = std::unique_ptr<T, PoolDeleter<T, Traits>>;

/// A pool of objects that one thread creates and another thread may destroy.
///
///     sluice::ObjectPool<Order> orders;
///     sluice::PoolPtr<Order> order = orders.make(Order{1, 9.5});
///     std::thread([taken = std::move(order)] { use(*taken); }).join();  // the order ends there
///
/// Use ObjectPool for objects passed by pointer. Use PoolAllocator with std::allocate_shared for
/// shared ownership. Use Pooled<T> to keep `new` and `delete` in existing code.
///
/// An ObjectPool with a capacity of at most `Options::exactUpTo` uses a FixedBlockPool, which
/// allocates all memory in the constructor. A larger ObjectPool uses a BlockPool, which grows and
/// has a cache in each thread. Platforms without threads always use a FixedBlockPool.
///
/// Thread safety and errors: as for the BlockPool or FixedBlockPool. Each object is preceded by a
/// pointer to its pool.
template <class T, class Traits>
class ObjectPool {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "an ObjectPool holds single objects");

    using Blocks = std::conditional_t<Traits::Platform::hasThreads, BasicBlockPool<Traits>,
                                      BasicFixedBlockPool<Traits>>;

public:
    using value_type = T;
    using Pointer = PoolPtr<T, Traits>;

    explicit ObjectPool(const ObjectPoolOptions& options = {},
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : blocks_(blockOptions(options), memory) {}

    /// Returns an empty pointer if the pool is exhausted.
    template <class... Args>
    [[nodiscard]] Pointer tryMake(Args&&... args) {
        return construct(blocks_.tryAllocate(), std::forward<Args>(args)...);
    }

    /// If the pool is exhausted, throws std::bad_alloc, or ends a program without exceptions.
    template <class... Args>
    [[nodiscard]] Pointer make(Args&&... args) {
        return construct(blocks_.allocate(), std::forward<Args>(args)...);
    }

    /// Destroys an object of any ObjectPool<T> after PoolPtr::release(). Null is allowed.
    static void destroy(T* object) noexcept {
        if (object != nullptr) {
            using Mutable = std::remove_cv_t<T>;
            auto* const block = reinterpret_cast<std::byte*>(const_cast<Mutable*>(object)) - offset;
            ObjectPool* const home = *std::launder(reinterpret_cast<ObjectPool**>(block));
            object->~T();
            home->blocks_.deallocate(block);
        }
    }

    std::size_t trim() noexcept { return blocks_.trim(); }
    [[nodiscard]] BlockPoolStatistics statistics() const noexcept { return blocks_.statistics(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return blocks_.capacity(); }

private:
    static constexpr std::size_t alignment = std::max(alignof(T), alignof(ObjectPool*));
    // A block consists of a pointer to its pool and, at the next aligned address, the object.
    static constexpr std::size_t offset = std::max(alignment, sizeof(void*));

    static BlockPoolOptions blockOptions(const ObjectPoolOptions& options) noexcept {
        BlockPoolOptions result;
        result.blockSize = offset + sizeof(T);
        result.alignment = alignment;
        result.capacity = options.capacity;
        result.initialBlocks = options.initialObjects;
        result.blocksPerSlab = options.objectsPerSlab;
        result.isExact = options.capacity <= options.exactUpTo;
        result.prefault = options.prefault;
        result.hugePages = options.hugePages;
        result.name = options.name != nullptr ? options.name : SLUICE_FUNCTION_TEXT;
        result.onLeak = options.onLeak;
        return result;
    }

    struct BlockGuard {
        ObjectPool& pool;
        void* block;
        ~BlockGuard() { pool.blocks_.deallocate(block); }
    };

    template <class... Args>
    Pointer construct(void* block, Args&&... args) {
        BlockGuard guard{*this, block};
        if (block == nullptr) {
            return nullptr;
        }
        auto* const bytes = static_cast<std::byte*>(block);
        ::new (block) ObjectPool*(this);
        T* const object = ::new (static_cast<void*>(bytes + offset)) T(std::forward<Args>(args)...);
        guard.block = nullptr;
        return Pointer(object);
    }

    Blocks blocks_;
};

}  // namespace sluice
