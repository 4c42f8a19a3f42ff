#pragma once

/// \file
/// BlockPool: raw blocks of one size, allocated on one thread and freed on another.
///
/// Purpose: memory for messages. No call to the general-purpose allocator once the pool has grown,
/// and nothing shared between threads on most calls.
///
/// Use it for blocks whose type you manage yourself. Use ObjectPool<T> for objects, PoolAllocator
/// for containers, PoolResource for several sizes.
///
/// Who may call what: any thread, any member. A block may be freed on any thread. The pool must
/// outlive its blocks and all calls on it, but not the threads that used it.
///
/// Progress: allocating and freeing touch the calling thread's cache alone in all but one call of
/// `magazineRounds`; that one exchanges a magazine with the shared depot, which is lock-free. A
/// thread without a cache of its own (one that is ending), growth, trim() and an allocation that
/// finds the depot empty take a spin lock for a few instructions; growth holds it while it hands
/// out the new slab's blocks, and trim() all the time. A thread stopped there stops only those
/// others.
///
/// Memory promise: what a thread wrote before it freed a block is visible to the one that gets it.
///
/// Capacity: at most Options::capacity blocks are ever in use at once; unlimited by default. Blocks
/// that lie free with other threads cannot be had, at most 2 * magazineRounds + 1 with each: a pool
/// may be exhausted with so many fewer blocks in use. Allocation: from the memory resource, a slab
/// at a time. Exhausted means that there is no free block, the capacity is reached or the
/// memory resource has refused: tryAllocate() returns null and counts it, and nothing falls back to
/// the heap. Shutdown: all blocks must have been freed, see ~BasicBlockPool.
///
/// Origin: magazines and depot follow J. Bonwick and J. Adams, "Magazines and Vmem: Extending the
/// Slab Allocator to Many CPUs and Arbitrary Resources" (2001).
///
/// Invariants: a block is used, the spare of one thread, or in one magazine. A magazine is in one
/// cache, in the stack of full ones (full), or in that of empty ones (empty).
///
/// Edges: E1 hand-over: block freed -> magazine pushed with release .. popped with acquire -> block
/// allocated. E2 lock: the common cache and the slabs are used under the lock.
///
/// Tests: tests/unit/memory/block_pool_test.cpp, tests/stress/pool_stress_test.cpp,
/// tests/alloc/pool_allocation_test.cpp.

#include <sluice/base/assert.hpp>
#include <sluice/base/backoff.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/thread_table.hpp>
#include <sluice/memory/detail/memory_tools.hpp>
#include <sluice/memory/detail/pool_core.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>

namespace sluice {

struct BlockPoolTraits {
    using Platform = StdPlatform;
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;

    /// Blocks that a thread takes from the depot or gives back to it at once. It keeps at most
    /// twice as many free ones for itself, and one more.
    static constexpr std::size_t magazineRounds = 64;
};

/// Blocks that are still in use when their pool ends.
struct BlockLeak {
    const char* name;  ///< of the pool, as its options give it
    std::size_t blocks;
    std::size_t blockSize;
};

struct BlockPoolOptions {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    std::size_t blockSize = 0;                          ///< bytes, at least 1
    std::size_t alignment = alignof(std::max_align_t);  ///< a power of two
    std::size_t capacity = unlimited;                   ///< most blocks there will ever be
    std::size_t initialBlocks = 0;                      ///< there from the start
    std::size_t blocksPerSlab = 0;                      ///< growth; 0: about 64 KiB
    bool prefault = false;   ///< slabs are touched at once, so that no call meets a page fault
    bool hugePages = false;  ///< asks the kernel for huge pages, where it has some
    const char* name = "BlockPool";  ///< for the leak report
    /// Called by the destructor when blocks are still in use. Without one that is an assertion.
    void (*onLeak)(const BlockLeak&) noexcept = nullptr;
};

struct BlockPoolStatistics {
    std::size_t blocks;       ///< there now, used or free
    std::size_t inUse;        ///< exact when nobody is at work
    std::size_t highWater;    ///< most blocks that were in use or in threads' caches at once
    std::uint64_t exhausted;  ///< allocations that found no block
    /// Blocks that threads gave back to the depot, having freed more than they allocated: in whole
    /// magazines.
    std::uint64_t remoteFrees;
};

template <class Traits = BlockPoolTraits>
class BasicBlockPool {
    using Core = detail::PoolCore<Traits>;
    using Cache = typename Core::Slot;
    using Threads = ThreadTable<Core>;
    using Clock = typename Traits::Platform::Clock;

public:
    /// Refuses (see setupError) a block size of 0, an alignment that is not a power of two, a
    /// capacity of 0, more initial blocks than the capacity, and sizes that overflow.
    explicit BasicBlockPool(const BlockPoolOptions& options,
                            std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : options_(checked(options)),
          core_(new Core(layoutOf(options), options.capacity, blocksPerSlab(options), memory)),
          hash_(Threads::hash(core_)) {
        Abandonment onThrow{core_};
        while (core_->figures().blocks < options.initialBlocks && core_->grow()) {
        }
        onThrow.core = nullptr;
    }
    BasicBlockPool(const BasicBlockPool&) = delete;
    BasicBlockPool& operator=(const BasicBlockPool&) = delete;

    /// Gives all memory back to the memory resource. Blocks that are still in use are reported to
    /// Options::onLeak, or fail an assertion; using them afterwards is undefined.
    ~BasicBlockPool() {
        const std::size_t used = statistics().inUse;
        if (used != 0 && options_.onLeak != nullptr) {
            options_.onLeak(BlockLeak{options_.name, used, options_.blockSize});
        } else {
            SLUICE_ASSERT(used == 0, "blocks outlive their pool: free them first, or set onLeak");
        }
        core_->abandon();
    }

    /// A block, or null when the pool is exhausted. Its content is undefined.
    [[nodiscard]] void* tryAllocate() noexcept {
        void* block = Core::tryTake(Threads::findFirst(core_, hash_));
        if (__builtin_expect(block == nullptr, 0)) {
            block = takeOrGrow();
        }
        if (block != nullptr) {
            SLUICE_ASSERT(core_->noteTaken(block), "what this pool keeps is no block of it: "
                                                   "something has written over its books");
            detail::toldOfAllocation(block, options_.blockSize);
        }
        return block;
    }

    /// A block. When the pool is exhausted: throws std::bad_alloc, or without exceptions ends the
    /// program through the assertion handler.
    [[nodiscard]] void* allocate() {
        void* const block = tryAllocate();
        if (__builtin_expect(block == nullptr, 0)) {
            failToAllocate();
        }
        return block;
    }

    /// Waits for a block no longer than `atMost`, spinning at first, then yielding.
    template <class Rep, class Period>
    [[nodiscard]] void* tryAllocateFor(std::chrono::duration<Rep, Period> atMost) noexcept {
        // In floating point: the longest durations overflow as integers of the clock's unit.
        using Seconds = std::chrono::duration<double>;
        const auto start = Clock::now();
        BasicBackoff<typename Traits::Platform> backoff;
        for (;;) {
            void* const block = tryAllocate();
            if (block != nullptr || Seconds(Clock::now() - start) >= Seconds(atMost)) {
                return block;
            }
            backoff.wait();
        }
    }

    /// Takes a block back; null is allowed. In debug builds an address that is not a block's, and a
    /// block that is free already, on whatever thread that was done, fail an assertion.
    void deallocate(void* block) noexcept {
        if (block == nullptr) {
            return;
        }
        SLUICE_ASSERT(core_->owns(block), "this address is no block of this pool");
        SLUICE_ASSERT(core_->noteFreed(block), "this block is free already: it was freed twice");
        detail::toldOfDeallocation(block, options_.blockSize);
        if (__builtin_expect(!Core::tryGive(Threads::findFirst(core_, hash_), block), 0)) {
            giveElsewhere(block);
        }
    }

    /// Whether a block of this pool begins at this address, used or free. Walks the slabs.
    [[nodiscard]] bool owns(const void* address) const noexcept { return core_->owns(address); }

    /// Gives slabs without a block in use, or in the cache of another thread, back to the memory
    /// resource. Returns how many bytes. Cost: proportional to the free blocks times the slabs.
    std::size_t trim() noexcept { return core_->trim(Threads::find(core_, hash_)); }

    [[nodiscard]] BlockPoolStatistics statistics() const noexcept {
        const auto figures = core_->figures();
        return {figures.blocks, figures.used, figures.highWater, figures.exhausted,
                figures.returned};
    }

    [[nodiscard]] std::size_t blockSize() const noexcept { return options_.blockSize; }
    [[nodiscard]] std::size_t alignment() const noexcept { return options_.alignment; }
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }

private:
    static constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t mostBytes = most / 4;

    struct Abandonment {
        Core* core;
        ~Abandonment() {
            if (core != nullptr) {
                core->abandon();
            }
        }
    };

    static BlockPoolOptions checked(const BlockPoolOptions& options) {
        if (options.blockSize == 0) {
            setupError("block size of a BlockPool is too small", options.blockSize, 1);
        }
        if (options.blockSize > mostBytes) {
            setupError("block size of a BlockPool is too large", options.blockSize, mostBytes);
        }
        if (options.alignment == 0 || (options.alignment & (options.alignment - 1)) != 0) {
            setupError("alignment of a BlockPool is not a power of two", options.alignment,
                       alignof(std::max_align_t));
        }
        if (options.alignment > mostBytes) {
            setupError("alignment of a BlockPool is too large", options.alignment, mostBytes);
        }
        if (options.capacity == 0) {
            setupError("capacity of a BlockPool is too small", options.capacity, 1);
        }
        const std::size_t mostBlocks = mostBytes / strideOf(options);
        if (options.capacity != BlockPoolOptions::unlimited && options.capacity > mostBlocks) {
            setupError("capacity of a BlockPool is too large", options.capacity, mostBlocks);
        }
        if (options.blocksPerSlab > mostBlocks) {
            setupError("blocksPerSlab of a BlockPool is too large", options.blocksPerSlab,
                       mostBlocks);
        }
        if (options.initialBlocks > options.capacity) {
            setupError("initialBlocks of a BlockPool exceed its capacity", options.initialBlocks,
                       options.capacity);
        }
        return options;
    }

    static std::size_t strideOf(const BlockPoolOptions& options) noexcept {
        return (options.blockSize + options.alignment - 1) / options.alignment * options.alignment;
    }

    static detail::SlabLayout layoutOf(const BlockPoolOptions& options) noexcept {
        return {options.blockSize, strideOf(options), options.alignment, options.prefault,
                options.hugePages};
    }

    static std::size_t blocksPerSlab(const BlockPoolOptions& options) noexcept {
        constexpr std::size_t usualBytes = 65536;
        if (options.blocksPerSlab != 0) {
            return options.blocksPerSlab;
        }
        if (options.initialBlocks != 0) {
            return options.initialBlocks;
        }
        const std::size_t usual = usualBytes / strideOf(options);
        return usual < 8 ? 8 : usual;
    }

    Cache* cache() noexcept {
        return Threads::findOr(core_, hash_, [this] { return enrol(); });
    }

    /// Null when the thread is ending, or when there is no memory for a cache.
    [[gnu::cold, gnu::noinline]] Cache* enrol() noexcept {
#if defined(__cpp_exceptions)
        try {
            return Threads::add(*core_);
        } catch (...) {
            return nullptr;
        }
#else
        return Threads::add(*core_);
#endif
    }

    [[gnu::cold, gnu::noinline]] void* takeOrGrow() noexcept {
        Cache* const cache = this->cache();
        do {
            void* const block = core_->take(cache);
            if (block != nullptr) {
                return block;
            }
        } while (grow());
        core_->countExhausted();
        return nullptr;
    }

    [[gnu::cold, gnu::noinline]] void giveElsewhere(void* block) noexcept {
        core_->give(cache(), block);
    }

    bool grow() noexcept {
#if defined(__cpp_exceptions)
        try {
            return core_->grow();
        } catch (...) {
            return false;
        }
#else
        return core_->grow();
#endif
    }

    [[noreturn, gnu::cold, gnu::noinline]] void failToAllocate() const {
#if defined(__cpp_exceptions)
        throw std::bad_alloc();
#else
        setupError("a BlockPool is exhausted; its block size and capacity are", options_.blockSize,
                   options_.capacity);
#endif
    }

    const BlockPoolOptions options_;
    Core* const core_;
    const std::size_t hash_;
};

using BlockPool = BasicBlockPool<>;

}  // namespace sluice
