#pragma once

/// \file
/// ObjectPool<T> and PoolPtr<T>: objects from a pool, with one owner each.
///
/// One thread creates an object, passes it on by pointer, and another thread destroys it, without
/// the general-purpose allocator.
///
///     sluice::ObjectPool<Order> orders;
///     sluice::PoolPtr<Order> order = orders.make(Order{1, 9.5});
///     std::thread([taken = std::move(order)] { use(*taken); }).join();  // the order ends there
///
/// Use it for objects that are passed on by pointer. Use PoolAllocator with std::allocate_shared
/// for shared ownership, Pooled<T> to keep `new` and `delete` in existing code.
///
/// Threads: any thread calls any member. One thread at a time uses a PoolPtr. The pool must outlive
/// its objects.
///
/// A pool of at most `Options::exactUpTo` objects is exact, and so is each pool on a platform
/// without threads:
/// - One lock-free list holds the free objects. Any thread and any interrupt gets each free object.
///   tryMake() fails only if all objects were in use at one moment during the call.
/// - The constructor allocates all `capacity` objects. trim() frees nothing.
/// - On machines without atomic words of 64 bits an exact pool has at most 4,095 objects; the
///   constructor refuses more. TaggedHead tells how long a thread may be stopped there.
///
/// In a larger pool each thread keeps some free objects for itself. Several threads then use the
/// pool without writing to a shared cache line on most calls. Progress, capacity and statistics are
/// those of BlockPool. A throwing constructor gives its block back to the pool.
///
/// Memory promise: the thread that gets a block sees all writes to the object that had the block
/// before.
///
/// The word in front of each object names its pool, so a PoolPtr is as wide as a pointer.
///
/// Tests: tests/unit/memory/object_pool_test.cpp, tests/unit/memory/exact_object_pool_test.cpp.

#include <sluice/base/assert.hpp>
#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/detail/exact_blocks.hpp>

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

    std::size_t capacity = unlimited;  ///< the most objects at once
    std::size_t exactUpTo = 1024;      ///< a pool whose capacity is at most this is exact
    /// The objects whose memory the constructor allocates. An exact pool allocates all.
    std::size_t initialObjects = 0;
    /// The objects of a new slab, if the pool is not exact. 0: about 64 KiB.
    std::size_t objectsPerSlab = 0;
    bool prefault = false;       ///< see BlockPoolOptions
    bool hugePages = false;      ///< see BlockPoolOptions
    const char* name = nullptr;  ///< for the leak report; null: a text that contains the type
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;  ///< see BlockPoolOptions
};

template <class T, class Traits = BlockPoolTraits>
class ObjectPool;

/// Owns one object of an ObjectPool<T>, or nothing.
template <class T, class Traits = BlockPoolTraits>
class PoolPtr {
public:
    using element_type = T;

    constexpr PoolPtr() noexcept = default;
    constexpr PoolPtr(std::nullptr_t) noexcept {}
    PoolPtr(PoolPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    PoolPtr& operator=(PoolPtr&& other) noexcept {
        PoolPtr(std::move(other)).swap(*this);
        return *this;
    }
    PoolPtr& operator=(std::nullptr_t) noexcept {
        reset();
        return *this;
    }
    ~PoolPtr() { reset(); }

    /// Destroys the object, if there is one.
    void reset() noexcept {
        if (object_ != nullptr) {
            ObjectPool<T, Traits>::destroy(std::exchange(object_, nullptr));
        }
    }

    /// Gives up the ownership. Pass the pointer to ObjectPool::destroy() or adopt() later.
    [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

    /// Takes the ownership of an object that release() has returned.
    [[nodiscard]] static PoolPtr adopt(T* object) noexcept { return PoolPtr(object); }

    [[nodiscard]] T* get() const noexcept { return object_; }
    T& operator*() const noexcept {
        SLUICE_ASSERT(object_ != nullptr, "this PoolPtr is empty: test it first");
        return *object_;
    }
    T* operator->() const noexcept { return std::addressof(**this); }
    explicit operator bool() const noexcept { return object_ != nullptr; }

    void swap(PoolPtr& other) noexcept { std::swap(object_, other.object_); }

    friend bool operator==(const PoolPtr& a, const PoolPtr& b) noexcept {
        return a.object_ == b.object_;
    }
    friend bool operator!=(const PoolPtr& a, const PoolPtr& b) noexcept { return !(a == b); }
    friend bool operator==(const PoolPtr& a, std::nullptr_t) noexcept { return !a; }
    friend bool operator!=(const PoolPtr& a, std::nullptr_t) noexcept { return bool(a); }

private:
    explicit PoolPtr(T* object) noexcept : object_(object) {}

    T* object_ = nullptr;
};

template <class T, class Traits>
class ObjectPool {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "an ObjectPool holds single objects");

    using Blocks = std::conditional_t<Traits::Platform::hasThreads, BasicBlockPool<Traits>,
                                      detail::SingleCoreExactPool<Traits>>;

public:
    using value_type = T;
    using Pointer = PoolPtr<T, Traits>;

    /// Refuses (see setupError) the options that BlockPool refuses, and an exact pool of more
    /// objects than its list can hold.
    explicit ObjectPool(const ObjectPoolOptions& options = {},
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : blocks_(blockOptions(options), memory) {}

    /// Makes an object. Returns an empty pointer if the pool is exhausted.
    template <class... Args>
    [[nodiscard]] Pointer tryMake(Args&&... args) {
        return construct(blocks_.tryAllocate(), std::forward<Args>(args)...);
    }

    /// Makes an object. If the pool is exhausted, it throws std::bad_alloc, or without exceptions
    /// ends the program through the assertion handler.
    template <class... Args>
    [[nodiscard]] Pointer make(Args&&... args) {
        return construct(blocks_.allocate(), std::forward<Args>(args)...);
    }

    /// Destroys an object of any ObjectPool<T> and gives its block back; null is allowed.
    static void destroy(T* object) noexcept {
        if (object != nullptr) {
            std::byte* const block = blockOf(object);
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
    // The word that names the pool is first. The object follows at the next aligned address.
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
        result.name = options.name != nullptr ? options.name : typeText();
        result.onLeak = options.onLeak;
        return result;
    }

    static const char* typeText() noexcept { return __PRETTY_FUNCTION__; }

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
        return Pointer::adopt(object);
    }

    static std::byte* blockOf(T* object) noexcept {
        using Mutable = std::remove_cv_t<T>;
        return reinterpret_cast<std::byte*>(const_cast<Mutable*>(object)) - offset;
    }

    Blocks blocks_;
};

}  // namespace sluice
