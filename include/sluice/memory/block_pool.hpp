#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_table.hpp>
#include <sluice/memory/block_pool_options.hpp>
#include <sluice/memory/detail/exact_blocks.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>
#include <sluice/memory/detail/pool_trim.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <memory_resource>

namespace sluice {

struct BlockPoolTraits {
    using Platform = StdPlatform;
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;

    /// The number of blocks that a thread exchanges with the depot at once. A thread keeps at most
    /// twice as many free blocks for itself, and one more.
    static constexpr std::size_t magazineRounds = 64;
};

/// Provides raw blocks of one size that one thread allocates and another thread frees. Once the
/// pool has grown, no call goes to the general-purpose allocator, and most calls use no shared
/// memory.
///
///     sluice::BlockPoolOptions options;
///     options.blockSize = 256;
///     sluice::BlockPool blocks(options);
///     if (void* const block = blocks.tryAllocate()) {
///         blocks.deallocate(block);  // on any thread
///     }
///
/// Use it for blocks whose type you manage yourself. Use ObjectPool<T> for objects, PoolAllocator
/// for containers, PoolResource for several sizes.
///
/// Threads: any thread calls any member, and may free any block. The pool must outlive its blocks
/// and all calls on it, but not the threads that used it.
///
/// Progress:
/// - Most calls use the calling thread's cache only. One call of `magazineRounds` exchanges a
///   magazine with the shared depot, which is lock-free.
/// - Some calls lock a SpinLock for a few instructions: growth, trim(), an allocation that
///   finds the depot empty, and the calls of a thread that is ending or whose cache is closed.
///   Growth holds the mutex while it hands out the new slab's blocks. Other calls are not delayed.
/// - An allocation that finds the capacity reached empties the caches of idle threads. It waits for
///   a trim() of another thread, and sleeps while another thread adds a slab.
///
/// Memory promise: the thread that gets a block sees the writes of the thread that freed it.
///
/// An exact pool (Options::isExact) has no caches: one list holds its free blocks. Each call is
/// lock-free, so an interrupt or a signal handler may make it. The constructor allocates all its
/// blocks. The following sentences about caches hold for other pools.
///
/// Capacity: at most Options::capacity blocks are in use at once; unlimited by default. A pool may
/// be exhausted while each other thread that uses it holds one free block. A thread in the middle
/// of a call may hold 2 * magazineRounds more. On kernels without membarrier each other thread may
/// hold these at any time.
///
/// Allocation: the pool takes its slabs and its tables of free blocks from the memory resource.
/// Several threads may call the resource at once, and the resource must not use the pool. The first
/// call of a thread takes its cache from the heap. A pool is exhausted if it finds no free block
/// and cannot grow, because the capacity is reached or the memory resource has refused. Then
/// tryAllocate() returns null and counts this. It does not use the heap instead.
///
/// Shutdown: all blocks must have been freed, see ~BasicBlockPool. A forked child must not use the
/// pool.
///
/// Double frees: release builds end the program if a thread frees the block that it freed last, or
/// the block on top of its magazine. An exact pool finds each double free of a free block. Debug
/// builds find all double frees.
///
/// Origin: magazines and depot follow J. Bonwick and J. Adams, "Magazines and Vmem: Extending the
/// Slab Allocator to Many CPUs and Arbitrary Resources" (2001).
///
/// Invariants: a block is used, the spare of one thread, or in one magazine. A magazine is in one
/// cache, in the stack of full magazines, or in the stack of empty magazines.
///
/// Edges: E1 hand-over: block freed -> magazine pushed with release .. popped with acquire -> block
/// allocated. E2 lock: the common cache and the slabs are used under the lock. E3 provided: empty
/// magazine pushed -> counted with release .. acquire -> blocks added that may need it. E4 figures:
/// magazine created -> put into a cache with release .. acquire -> its size read for statistics().
/// Idle caches are emptied under the edges of OwnerGate.
///
/// Tests: tests/unit/memory/block_pool_test.cpp, tests/unit/memory/block_pool_memory_test.cpp,
/// tests/unit/memory/block_pool_reclaim_test.cpp, tests/unit/memory/block_pool_cost_test.cpp,
/// tests/model/owner_gate_model_test.cpp,
/// tests/stress/pool_stress_test.cpp, tests/alloc/pool_allocation_test.cpp.
template <class Traits = BlockPoolTraits>
class BasicBlockPool {
    static_assert(Traits::Platform::hasThreads,
                  "a BlockPool keeps caches for threads, which an interrupt must not touch: on a "
                  "platform without threads use an ObjectPool");
    using Core = detail::PoolCore<Traits>;
    using Cache = typename Core::Slot;
    using Threads = ThreadTable<Core>;
    using Clock = typename Traits::Platform::Clock;
    using Exact = detail::ExactBlocks<Traits>;

public:
    /// Refuses (see setupError) a block size of 0, an alignment that is not a power of two, a
    /// capacity of 0, more initial blocks than the capacity, and sizes that overflow.
    explicit BasicBlockPool(const BlockPoolOptions& options,
                            std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : options_(detail::checkedOptions(options)),
          core_(new Core(detail::layoutOf(options), options.capacity, memory)),
          hash_(Threads::hash(core_)),
          blocksPerSlab_(blocksPerSlab(options)) {
        Abandonment onThrow{core_};
        if (options.isExact) {
            exact_ = std::make_unique<Exact>(options, memory);
            onThrow.core = nullptr;
            return;
        }
        const std::size_t slab =
            options.blocksPerSlab != 0 ? options.blocksPerSlab : options.initialBlocks;
        while (core_->figures().blocks < options.initialBlocks && core_->grow(slab)) {
        }
        onThrow.core = nullptr;
    }
    BasicBlockPool(const BasicBlockPool&) = delete;
    BasicBlockPool& operator=(const BasicBlockPool&) = delete;

    /// Gives all memory back to the memory resource. If blocks are still in use, it calls
    /// Options::onLeak, or fails an assertion. Using such blocks afterwards is undefined.
    ~BasicBlockPool() {
        detail::reportLeak(options_, statistics().inUse);
        core_->abandon();
    }

    /// Returns a block, or null if the pool is exhausted. The content of the block is undefined.
    [[nodiscard]] void* tryAllocate() noexcept {
        void* const block = find();
        if (__builtin_expect(block == nullptr, 0)) {
            core_->countExhausted();
        }
        return block;
    }

    /// Returns a block. If the pool is exhausted, it throws std::bad_alloc, or without exceptions
    /// ends the program through the assertion handler.
    [[nodiscard]] void* allocate() {
        void* const block = tryAllocate();
        if (__builtin_expect(block == nullptr, 0)) {
            detail::failToAllocate(options_);
        }
        return block;
    }

    /// Waits for a block, at most for `atMost`. It spins for some microseconds, and then sleeps
    /// between two looks, for 2 ms at most. Returns null if no block came.
    template <class Rep, class Period>
    [[nodiscard]] void* tryAllocateFor(std::chrono::duration<Rep, Period> atMost) noexcept {
        // In floating point: the longest durations overflow as integers of the clock's unit.
        using Seconds = std::chrono::duration<double>;
        const auto start = Clock::now();
        BasicBackoff<typename Traits::Platform> backoff;
        for (;;) {
            void* const block = find();
            if (block != nullptr) {
                return block;
            }
            if (Seconds(Clock::now() - start) >= Seconds(atMost)) {
                core_->countExhausted();
                return nullptr;
            }
            backoff.wait();
        }
    }

    /// Takes a block back; null is allowed. In debug builds an address that is no block, and a
    /// block that is already free, fail an assertion.
    void deallocate(void* block) noexcept {
        if (block == nullptr) {
            return;
        }
        SLUICE_ASSERT(owns(block), detail::noBlockAt(block).text);
        SLUICE_ASSERT(exact_ != nullptr ? exact_->isUsed(block) : core_->noteFreed(block),
                      detail::freedTwice(block).text);
        detail::toldOfDeallocation(core_, block, options_.blockSize);
        if (__builtin_expect(!Core::tryGive(Threads::findFirst(core_, hash_), block), 0)) {
            giveElsewhere(block);
        }
    }

    /// Whether a block of this pool, used or free, begins at this address. Logarithmic in slabs.
    [[nodiscard]] bool owns(const void* address) const noexcept {
        return exact_ != nullptr ? exact_->owns(address) : core_->owns(address);
    }

    /// Gives slabs without a block in use back to the memory resource, and returns their bytes. The
    /// pool's tables of free blocks stay. Each other thread that uses the pool keeps one free
    /// block, and so the slab of this block. Cost: the number of free blocks times the logarithm of
    /// the number of slabs. Other threads are not delayed, except an allocation that finds the
    /// capacity reached.
    std::size_t trim() noexcept {
        return exact_ != nullptr ? 0 : core_->trim(Threads::find(core_, hash_));
    }

    [[nodiscard]] BlockPoolStatistics statistics() const noexcept {
        const BlockPoolStatistics figures = core_->figures();
        return exact_ != nullptr ? exact_->statistics(figures.exhausted) : figures;
    }

    [[nodiscard]] std::size_t blockSize() const noexcept { return options_.blockSize; }
    [[nodiscard]] std::size_t alignment() const noexcept { return options_.alignment; }
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }

private:
    struct Abandonment {
        Core* core;
        ~Abandonment() {
            if (core != nullptr) {
                core->abandon();
            }
        }
    };

    static std::size_t blocksPerSlab(const BlockPoolOptions& options) noexcept {
        constexpr std::size_t usualBytes = 65536;
        constexpr std::size_t fewest = 8;
        if (options.blocksPerSlab != 0) {
            return options.blocksPerSlab;
        }
        if (options.hugePages) {
            return detail::Slab::blocksIn(detail::layoutOf(options), detail::Slab::hugePage);
        }
        const std::size_t usual = std::max(fewest, usualBytes / detail::strideOf(options));
        return std::min(usual, detail::mostBlocksOf(options));
    }

    /// The cache of this thread. Null if the thread is ending, or if there is no memory for one.
    Cache* cache() noexcept {
        return Threads::findOr(core_, hash_, [this] {
            return detail::resultOrDefault([this] { return Threads::add(*core_); });
        });
    }

    /// A block, or null. The caller counts the null.
    void* find() noexcept {
        void* block = Core::tryTake(Threads::findFirst(core_, hash_));
        if (__builtin_expect(block == nullptr, 0)) {
            block = takeOrGrow();
        }
        if (block != nullptr) {
            SLUICE_ASSERT(exact_ != nullptr || core_->noteTaken(block),
                          "what this pool keeps is no block of it: something has written over its "
                          "books");
            detail::toldOfAllocation(core_, block, options_.blockSize);
        }
        return block;
    }

    [[gnu::noinline]] void* takeOrGrow() noexcept {
        if (exact_ != nullptr) {
            return exact_->take();
        }
        Cache* const cache = this->cache();
        void* block = core_->take(cache);
        BasicBackoff<typename Traits::Platform> backoff;
        while (block == nullptr && grow()) {
            block = core_->take(cache);
            if (block == nullptr) {
                backoff.wait();
            }
        }
        if (block == nullptr) {
            core_->reclaim();
            block = core_->take(cache);
        }
        return block;
    }

    [[gnu::noinline]] void giveElsewhere(void* block) noexcept {
        if (exact_ != nullptr) {
            exact_->give(block);
        } else {
            core_->give(cache(), block);
        }
    }

    /// Returns false if neither this thread nor another one adds blocks.
    bool grow() noexcept {
        return detail::resultOrDefault([this] { return core_->grow(blocksPerSlab_); });
    }

    const BlockPoolOptions options_;
    Core* const core_;
    const std::size_t hash_;
    const std::size_t blocksPerSlab_;
    // The blocks of an exact pool; otherwise null. An exact pool gives no thread a cache, so each
    // call takes the path for threads without a cache. The fast path of other pools needs no test.
    std::unique_ptr<Exact> exact_;
};

using BlockPool = BasicBlockPool<>;

}  // namespace sluice
