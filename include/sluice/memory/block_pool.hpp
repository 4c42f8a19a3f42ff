#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/shared_registry.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/memory/block_pool_options.hpp>
#include <sluice/memory/detail/slab.hpp>
#include <sluice/memory/fixed_block_pool.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace sluice {

namespace detail {
template <class Traits>
class PoolCore;
}

/// A growing pool of blocks of one size, with a cache of free blocks in each thread.
///
///     sluice::BlockPoolOptions options;
///     options.blockSize = 256;
///     sluice::BlockPool blocks(options);
///     if (void* const block = blocks.tryAllocate()) {
///         blocks.deallocate(block);  // on any thread
///     }
///
/// Use BlockPool for raw blocks, and FixedBlockPool for exact limits or allocation in interrupts.
/// Use ObjectPool<T> for objects and PoolResource for several sizes.
///
/// Thread safety: any thread may call any member. Most calls use only the calling thread's cache. A
/// full or empty cache exchanges `magazineRounds` blocks with the pool's shared depot, under a spin
/// lock. Growth and trim() hold a second lock while they use the memory resource.
///
/// Errors: at most Options::capacity blocks exist. tryAllocate() returns null if the cache and the
/// depot are empty and the pool cannot grow, even if other threads' caches hold free blocks. A
/// thread that frees the same block twice in a row ends the program in all builds. Assertions also
/// find double frees of blocks in the thread's cache. AddressSanitizer finds every double free.
///
/// Performance: the pool grows by slabs of many blocks. The memory resource must support several
/// threads and must not use the pool. A thread's first call allocates its cache with new.
template <class Traits = BlockPoolTraits>
class BasicBlockPool {
    static_assert(Traits::Platform::hasThreads,
                  "a BlockPool keeps caches for threads, which an interrupt must not touch: on a "
                  "platform without threads use a FixedBlockPool or an ObjectPool");
    using Core = detail::PoolCore<Traits>;
    using Threads = ThreadSlots<Core>;

public:
    /// Calls setupError() for a block size or capacity of 0, an alignment that is not a power of
    /// two, more initial blocks than the capacity, or sizes that overflow.
    explicit BasicBlockPool(const BlockPoolOptions& options,
                            std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : options_(detail::checkedOptions(options)),
          core_(new Core(options, memory)),
          hash_(Threads::hash(core_.get())) {
        if (options.isExact) {
            exact_ = std::make_unique<BasicFixedBlockPool<Traits>>(options, memory);
        } else {
            core_->fill(options);
        }
    }
    BasicBlockPool(const BasicBlockPool&) = delete;
    BasicBlockPool& operator=(const BasicBlockPool&) = delete;

    /// If blocks are in use, the destructor calls Options::onLeak or fails an assertion, and the
    /// blocks become invalid.
    ~BasicBlockPool() {
        if (exact_ == nullptr) {
            detail::reportLeak(options_, statistics().inUse);
        }
    }

    /// Returns a block with undefined content, or null if the pool is exhausted.
    [[nodiscard]] void* tryAllocate() noexcept {
        void* const block = Core::tryTake(Threads::findFirst(core_.get(), hash_));
        if (SLUICE_UNLIKELY(block == nullptr)) {
            return takeOrGrow();
        }
        detail::openMemory(block, options_.blockSize);
        return block;
    }

    /// Throws std::bad_alloc if the pool is exhausted. Ends the program if exceptions are disabled.
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
        if (detail::isClosed(block)) {
            detail::failFreedTwice(block);
        }
        detail::closeMemory(block, options_.blockSize);
        if (SLUICE_UNLIKELY(!Core::tryGive(Threads::findFirst(core_.get(), hash_), block))) {
            giveElsewhere(block);
        }
    }

    /// Returns true if a used or free block begins at `address`. Takes O(log slabs) time.
    [[nodiscard]] bool owns(const void* address) const noexcept {
        return exact_ != nullptr ? exact_->owns(address) : core_->owns(address);
    }

    /// Frees each slab whose blocks are all in the depot or in the calling thread's cache. Returns
    /// the number of freed bytes. Takes O(log slabs) time for each free block.
    std::size_t trim() noexcept {
        return exact_ != nullptr ? 0 : core_->trim(Threads::find(core_.get(), hash_));
    }

    [[nodiscard]] BlockPoolStatistics statistics() const noexcept {
        return exact_ != nullptr ? exact_->statistics() : core_->statistics();
    }

    [[nodiscard]] std::size_t blockSize() const noexcept { return options_.blockSize; }
    [[nodiscard]] std::size_t alignment() const noexcept { return options_.alignment; }
    [[nodiscard]] std::size_t capacity() const noexcept { return options_.capacity; }

private:
    // Rare cases are not inlined, so that the fast path saves no registers.
    [[gnu::noinline]] void* takeOrGrow() noexcept {
        if (exact_ != nullptr) {
            return exact_->tryAllocate();
        }
        auto* const cache = this->cache();
        void* block = core_->take(cache);
        while (block == nullptr && detail::resultOrDefault([this] { return core_->grow(); })) {
            block = core_->take(cache);
        }
        if (block == nullptr) {
            core_->countExhausted();
            return nullptr;
        }
        detail::openMemory(block, options_.blockSize);
        return block;
    }

    [[gnu::noinline]] void giveElsewhere(void* block) noexcept {
        if (exact_ != nullptr) {
            exact_->deallocate(block);
        } else {
            core_->give(cache(), block);
        }
    }

    /// This thread's cache, or null if the thread is ending or the cache cannot be allocated.
    auto* cache() noexcept {
        return Threads::findOr(core_.get(), hash_, [this] {
            return detail::resultOrDefault([this] { return Threads::add(*core_); });
        });
    }

    struct EndOfPool {
        void operator()(Core* core) const noexcept { core->abandon(); }
    };

    const BlockPoolOptions options_;
    const std::unique_ptr<Core, EndOfPool> core_;  // outlives the pool if threads have caches
    const std::size_t hash_;
    // Null unless Options::isExact is set. An exact pool has no caches, so every call takes the
    // slow path.
    std::unique_ptr<BasicFixedBlockPool<Traits>> exact_;
};

using BlockPool = BasicBlockPool<>;

namespace detail {

template <class Platform, std::size_t Rounds>
struct Magazine {
    // Relaxed: only statistics() reads another thread's cache.

    std::size_t size() const noexcept { return count.load(std::memory_order_relaxed); }
    bool isEmpty() const noexcept { return size() == 0; }
    bool isFull() const noexcept { return size() == Rounds; }

    /// Returns false if the magazine is full. Ends the program if `block` is already the top block.
    bool tryPush(void* block) noexcept {
        const std::uint32_t old = count.load(std::memory_order_relaxed);
        if (SLUICE_UNLIKELY(blocks[old] == block)) {
            failFreedTwice(block);
        }
        if (SLUICE_UNLIKELY(old == Rounds)) {
            return false;
        }
        blocks[old + 1] = block;
        count.store(old + 1, std::memory_order_relaxed);
        return true;
    }
    void* tryPop() noexcept {
        const std::uint32_t old = count.load(std::memory_order_relaxed);
        void* const block = blocks[old];
        if (SLUICE_LIKELY(block != nullptr)) {
            count.store(old - 1, std::memory_order_relaxed);
        }
        return block;
    }

    bool holds(const void* block) const noexcept {
        return std::find(begin(), end(), block) != end();
    }
    auto begin() const noexcept { return blocks.begin() + 1; }
    auto end() const noexcept { return begin() + static_cast<std::ptrdiff_t>(size()); }

    typename Platform::template Atomic<std::uint32_t> count{0};
    Magazine* next = nullptr;              // links magazines in the depot
    std::array<void*, Rounds + 1> blocks;  // blocks[0] is null, for tryPop() on an empty magazine

    Magazine() noexcept { blocks[0] = nullptr; }
};

/// The shared part of a BlockPool: the slabs, the depot of free blocks, and the threads' caches.
///
/// A thread's cache has two magazines, which are stacks of free blocks. Allocations and
/// deallocations use one of the magazines, the loaded magazine. If the loaded magazine is empty or
/// full, the cache swaps its two magazines. If both magazines are empty or both are full, the cache
/// exchanges one magazine with the depot. An exchange happens at most once per `magazineRounds`
/// allocations or deallocations: see "Magazines and Vmem" (Bonwick and Adams, 2001).
template <class Traits>
class PoolCore : public SharedRegistry<PoolCore<Traits>, typename Traits::Platform> {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr std::size_t rounds = Traits::magazineRounds;
    static_assert(rounds > 0, "magazineRounds of the traits must not be 0");

    using Magazine = detail::Magazine<Platform, rounds>;
    using Lock = BasicSpinLock<Platform>;
    using Guard = std::lock_guard<Lock>;

    struct Stack {
        void push(Magazine* magazine) noexcept { magazine->next = std::exchange(first, magazine); }
        Magazine* tryPop() noexcept {
            Magazine* const magazine = first;
            if (magazine != nullptr) {
                first = magazine->next;
            }
            return magazine;
        }
        Magazine* first = nullptr;
    };

public:
    /// A freed block becomes the thread's spare if the thread has none, and the next allocation
    /// takes the spare. The spare saves a third of the time of a call.
    struct alignas(std::max(line, alignof(void*))) Slot {
        // Relaxed: only statistics() reads another thread's cache.
        Atomic<void*> spare{nullptr};
        Atomic<Magazine*> loaded{nullptr};
        Atomic<Magazine*> previous{nullptr};
        Slot* next = nullptr;  // guarded by lock_

        Magazine* first() const noexcept { return loaded.load(std::memory_order_relaxed); }
        Magazine* second() const noexcept { return previous.load(std::memory_order_relaxed); }
        void set(Magazine* front, Magazine* back) noexcept {
            loaded.store(front, std::memory_order_relaxed);
            previous.store(back, std::memory_order_relaxed);
        }
        std::size_t size() const noexcept {
            return first()->size() + second()->size() +
                   (spare.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
        }
    };

    PoolCore(const BlockPoolOptions& options, std::pmr::memory_resource* memory)
        : layout_(options),
          capacity_(options.capacity),
          blocksPerSlab_(blocksPerSlab(options)),
          firstSlab_(options.blocksPerSlab != 0 || options.hugePages
                         ? blocksPerSlab_
                         : std::max<std::size_t>(1, 1024 / layout_.stride)),
          memory_(memory),
          slabs_(memory),
          partial_(createMagazine()) {}

    /// Allocates the initial blocks, in one slab unless the options set the slab size.
    void fill(const BlockPoolOptions& options) {
        const Guard resizing(resizeLock_);
        while (blocks_ < options.initialBlocks) {
            addSlab(resizing, options.blocksPerSlab != 0 ? blocksPerSlab_ : options.initialBlocks);
        }
    }

    /// An exception changes nothing.
    Slot& enroll(const void*) {
        auto slot = std::make_unique<Slot>();
        withSpareMagazines(2, [&](const Guard& guard) {
            slot->set(takeEmpty(guard), takeEmpty(guard));
            stacked_ -= 2;
            slot->next = std::exchange(slots_, slot.get());
        });
        this->addUser();
        return *slot.release();
    }

    /// Returns the cached blocks to the depot, unless the pool has been destroyed.
    void dismiss(Slot& slot) noexcept {
        {
            const Guard guard(lock_);
            if (!this->isAbandoned()) {
                empty(guard, slot);
                empties_.push(slot.first());
                empties_.push(slot.second());
                stacked_ += 2;
            }
            Slot** link = &slots_;
            while (*link != &slot) {
                link = &(*link)->next;
            }
            *link = slot.next;
        }
        delete &slot;
        this->dropUser();
    }

    /// Called by the pool's destructor. Other threads may end during the call.
    void abandon() noexcept {
        {
            const Guard guard(lock_);
            this->markAbandoned();
            for (const Slot* slot = slots_; slot != nullptr; slot = slot->next) {
                empties_.push(slot->first());
                empties_.push(slot->second());
            }
        }
        empties_.push(partial_);
        destroyAll(fulls_);
        destroyAll(empties_);
        for (const Slab& slab : slabs_) {
            slab.destroy(layout_, memory_);
        }
        std::pmr::vector<Slab>(memory_).swap(slabs_);
        this->dropUser();
    }

    // ---- Blocks. A thread without a cache passes a null slot and uses the depot.

    static void* tryTake(Slot* slot) noexcept {
        if (SLUICE_UNLIKELY(slot == nullptr)) {
            return nullptr;
        }
        void* const spare = slot->spare.load(std::memory_order_relaxed);
        if (spare == nullptr) {
            return slot->first()->tryPop();
        }
        slot->spare.store(nullptr, std::memory_order_relaxed);
        return spare;
    }

    /// Returns false if the thread has a spare and its loaded magazine is full.
    static bool tryGive(Slot* slot, void* block) noexcept {
        if (SLUICE_UNLIKELY(slot == nullptr)) {
            return false;
        }
        SLUICE_ASSERT(!slot->first()->holds(block) && !slot->second()->holds(block),
                      freedTwice(block).text);
        if (void* const spare = slot->spare.load(std::memory_order_relaxed)) {
            if (SLUICE_UNLIKELY(spare == block)) {
                failFreedTwice(block);
            }
            return slot->first()->tryPush(block);
        }
        slot->spare.store(block, std::memory_order_relaxed);
        return true;
    }

    void* take(Slot* slot) noexcept {
        if (slot == nullptr) {
            const Guard guard(lock_);
            return takeOne(guard);
        }
        void* block = tryTake(slot);
        while (block == nullptr && refill(*slot)) {
            block = tryTake(slot);
        }
        return block;
    }

    void give(Slot* slot, void* block) noexcept {
        if (slot == nullptr) {
            const Guard guard(lock_);
            giveOne(guard, block);
            return;
        }
        while (!tryGive(slot, block)) {
            makeRoom(*slot);
        }
    }

    /// Adds a slab, unless another thread has refilled the depot. Returns false at the pool's
    /// capacity. An exception changes nothing.
    bool grow() {
        const Guard resizing(resizeLock_);
        {
            const Guard guard(lock_);
            if (fulls_.first != nullptr || !partial_->isEmpty()) {
                return true;
            }
        }
        return blocks_ != capacity_ &&
               (addSlab(resizing, std::max(std::min(blocks_, blocksPerSlab_), firstSlab_)), true);
    }

    std::size_t trim(Slot* slot) noexcept {
        const Guard resizing(resizeLock_);
        if (blocks_ == 0) {
            return 0;
        }
        Stack held;
        {
            const Guard guard(lock_);
            if (slot != nullptr) {
                empty(guard, *slot);
            }
            held = std::exchange(fulls_, {});
            // takeEmpty() cannot fail: see the invariant of fulls_ and empties_.
            held.push(std::exchange(partial_, takeEmpty(guard)));
        }
        for (const Magazine* full = held.first; full != nullptr; full = full->next) {
            for (void* const block : *full) {
                ++slabOf(block).freeBlocks;
            }
        }
        while (Magazine* const magazine = held.tryPop()) {
            putBackKept(*magazine);
        }
        return destroyUnused(resizing);
    }

    bool owns(const void* address) const noexcept {
        const Guard guard(lock_);
        const std::ptrdiff_t index = indexOf(address);
        return index >= 0 && slabs_[static_cast<std::size_t>(index)].hasBlockAt(address, layout_);
    }

    void countExhausted() noexcept {
        exhausted_.fetch_add(1, std::memory_order_relaxed);  // value only
    }

    BlockPoolStatistics statistics() const noexcept {
        const Guard guard(lock_);
        std::size_t cached = 0;
        for (const Slot* slot = slots_; slot != nullptr; slot = slot->next) {
            cached += slot->size();
        }
        return {blocks_, outside_ > cached ? outside_ - cached : 0, highWater_,
                exhausted_.load(std::memory_order_relaxed)};
    }

private:
    // Edge E1: lock_ orders each use of a block before its next use; see docs/algorithms/pools.md.
    // Invariant: fulls_ and empties_ together have one magazine more than all blocks can fill.

    static std::size_t blocksPerSlab(const BlockPoolOptions& options) noexcept {
        const SlabLayout layout(options);
        if (options.blocksPerSlab != 0) {
            return options.blocksPerSlab;
        }
        if (options.hugePages) {
            return std::max<std::size_t>(1, hugePage / layout.stride);
        }
        return std::min(std::max<std::size_t>(8, 65536 / layout.stride), layout.mostBlocks());
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void failForeign() noexcept {
        failAssertion(
            {"",
             "a pool was given a block of another pool, or the same block twice. For a Pooled "
             "class: create and delete its objects in one shared object, see pooled.hpp",
             __FILE__, __LINE__});
    }

    /// Replaces the empty loaded magazine. Returns false if the depot has no block.
    [[gnu::noinline]] bool refill(Slot& slot) noexcept {
        Magazine* const loaded = slot.first();
        Magazine* const previous = slot.second();
        if (!previous->isEmpty()) {
            slot.set(previous, loaded);
            return true;
        }
        const Guard guard(lock_);
        Magazine* filled = fulls_.tryPop();
        if (filled != nullptr) {
            empties_.push(previous);
        } else if (partial_->isEmpty()) {
            return false;
        } else {
            filled = std::exchange(partial_, previous);
        }
        countTaken(guard, filled->size());
        slot.set(filled, loaded);
        return true;
    }

    /// Loads the previous magazine, or an empty magazine of the depot if both magazines are full.
    [[gnu::noinline]] void makeRoom(Slot& slot) noexcept {
        Magazine* const loaded = slot.first();
        Magazine* const previous = slot.second();
        if (!previous->isFull()) {
            slot.set(previous, loaded);
            return;
        }
        const Guard guard(lock_);
        slot.set(takeEmpty(guard), loaded);
        fulls_.push(previous);
        outside_ -= rounds;
    }

    void* takeOne(const Guard& guard) noexcept {
        if (partial_->isEmpty()) {
            Magazine* const full = fulls_.tryPop();
            if (full == nullptr) {
                return nullptr;
            }
            empties_.push(std::exchange(partial_, full));
        }
        countTaken(guard, 1);
        return partial_->tryPop();
    }

    void giveOne(const Guard& guard, void* block) noexcept {
        if (partial_->isFull()) {
            fulls_.push(std::exchange(partial_, takeEmpty(guard)));
        }
        (void)partial_->tryPush(block);
        --outside_;
    }

    void empty(const Guard& guard, Slot& slot) noexcept {
        for (Magazine* const magazine : {slot.first(), slot.second()}) {
            while (void* const block = magazine->tryPop()) {
                giveOne(guard, block);
            }
        }
        if (void* const spare = slot.spare.load(std::memory_order_relaxed)) {
            slot.spare.store(nullptr, std::memory_order_relaxed);
            giveOne(guard, spare);
        }
    }

    void countTaken(const Guard& /*guard*/, std::size_t blocks) noexcept {
        outside_ += blocks;
        highWater_ = std::max(highWater_, outside_);
    }

    Magazine* takeEmpty(const Guard& /*guard*/) noexcept {
        Magazine* const magazine = empties_.tryPop();
        if (SLUICE_UNLIKELY(magazine == nullptr)) {
            failForeign();  // more blocks were freed than the pool has
        }
        return magazine;
    }

    /// Creates magazines until `extra` more than needed exist, and calls then(guard) under lock_.
    template <class Then>
    void withSpareMagazines(std::size_t extra, Then then) {
        for (;;) {
            {
                const Guard guard(lock_);
                if (stacked_ >= needed(guard) + extra) {
                    then(guard);
                    return;
                }
            }
            Magazine* const magazine = createMagazine();
            const Guard guard(lock_);
            empties_.push(magazine);
            ++stacked_;
        }
    }
    std::size_t needed(const Guard& /*guard*/) const noexcept { return provided_ / rounds + 1; }

    Magazine* createMagazine() {
        return ::new (memory_->allocate(sizeof(Magazine), alignof(Magazine))) Magazine;
    }
    std::size_t destroyAll(Stack& stack) noexcept {
        std::size_t bytes = 0;
        while (Magazine* const magazine = stack.tryPop()) {
            memory_->deallocate(magazine, sizeof(Magazine), alignof(Magazine));
            bytes += sizeof(Magazine);
        }
        return bytes;
    }

    void addSlab(const Guard& /*resizing*/, std::size_t most) {
        const std::size_t count = std::min(most, capacity_ - blocks_);
        std::pmr::vector<Slab> larger(memory_);
        if (slabs_.size() == slabs_.capacity()) {
            larger.reserve(2 * slabs_.size() + 8);
        }
        {
            const Guard guard(lock_);
            provided_ = blocks_ + count;
        }
        withSpareMagazines(0, [](const Guard&) {});
        const Slab slab = Slab::create(layout_, count, memory_);
        const Guard guard(lock_);
        if (larger.capacity() != 0) {
            larger.assign(slabs_.begin(), slabs_.end());
            larger.swap(slabs_);
        }
        slabs_.insert(slabs_.begin() + slabsUpTo(slab.begin), slab);
        ++sorted_;
        blocks_ += count;
        outside_ += count;  // giveOne() subtracts them
        for (std::size_t i = count; i != 0; --i) {
            giveOne(guard, slab.block(i - 1, layout_));
        }
    }

    std::ptrdiff_t slabsUpTo(const void* address) const noexcept {
        const auto end = slabs_.begin() + sorted_;
        const auto isBefore = [](const void* wanted, const Slab& slab) {
            return std::less<const void*>()(wanted, slab.begin);
        };
        return std::upper_bound(slabs_.begin(), end, address, isBefore) - slabs_.begin();
    }
    /// The index of the slab with `address`, or -1. The caller holds lock_ or resizeLock_.
    std::ptrdiff_t indexOf(const void* address) const noexcept {
        const std::ptrdiff_t index = slabsUpTo(address) - 1;
        return index >= 0 && slabs_[static_cast<std::size_t>(index)].covers(address, layout_)
                   ? index
                   : -1;
    }
    Slab& slabOf(const void* block) noexcept {
        const std::ptrdiff_t index = indexOf(block);
        if (SLUICE_UNLIKELY(index < 0)) {
            failForeign();
        }
        return slabs_[static_cast<std::size_t>(index)];
    }

    static bool isUnused(const Slab& slab) noexcept { return slab.freeBlocks == slab.count; }

    /// Empties a magazine for trim(). Blocks return to the depot unless their slab will be freed.
    void putBackKept(Magazine& magazine) noexcept {
        std::array<void*, rounds> kept;  // uninitialised on purpose
        std::size_t count = 0;
        while (void* const block = magazine.tryPop()) {
            if (!isUnused(slabOf(block))) {
                kept[count++] = block;
            }
        }
        const Guard guard(lock_);
        empties_.push(&magazine);
        outside_ += count;  // giveOne() subtracts them
        while (count != 0) {
            giveOne(guard, kept[--count]);
        }
    }

    std::size_t destroyUnused(const Guard& /*resizing*/) noexcept {
        Stack surplus;
        {
            const Guard guard(lock_);
            const auto end = slabs_.begin() + sorted_;
            sorted_ = 0;
            for (auto slab = slabs_.begin(); slab != end; ++slab) {
                if (isUnused(*slab)) {
                    blocks_ -= slab->count;
                } else {
                    slab->freeBlocks = 0;
                    std::swap(slabs_[static_cast<std::size_t>(sorted_++)], *slab);
                }
            }
            provided_ = blocks_;
            for (; stacked_ > needed(guard); --stacked_) {
                surplus.push(takeEmpty(guard));
            }
        }
        std::size_t bytes = destroyAll(surplus);
        while (slabs_.size() != static_cast<std::size_t>(sorted_)) {
            bytes += slabs_.back().destroy(layout_, memory_);
            slabs_.pop_back();
        }
        return bytes;
    }

    const SlabLayout layout_;
    const std::size_t capacity_;
    const std::size_t blocksPerSlab_;  // blocks in the largest slab
    const std::size_t firstSlab_;      // blocks in the smallest slab
    std::pmr::memory_resource* const memory_;

    Lock resizeLock_;  // held while slabs are added or freed; locked before lock_
    alignas(line) alignas(Lock) mutable Lock lock_;
    Stack fulls_;
    Stack empties_;
    std::size_t stacked_ = 0;   // magazines in fulls_ and empties_, or held by trim()
    std::size_t provided_ = 0;  // the number of blocks that the magazines must be able to hold
    std::size_t outside_ = 0;   // blocks that are not in the depot
    std::size_t highWater_ = 0;
    Slot* slots_ = nullptr;
    // Writers of blocks_, slabs_ and sorted_ hold both locks; readers hold lock_ or resizeLock_.
    std::size_t blocks_ = 0;
    std::pmr::vector<Slab> slabs_;  // sorted_ slabs in address order, then slabs that trim() frees
    std::ptrdiff_t sorted_ = 0;
    Magazine* partial_;
    Atomic<CounterWord> exhausted_{0};
};

}  // namespace detail

}  // namespace sluice
