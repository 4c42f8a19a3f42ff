#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_table.hpp>
#include <sluice/memory/detail/block_options.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>
#include <sluice/memory/detail/pool_depot.hpp>
#include <sluice/memory/detail/slab.hpp>
#include <sluice/memory/detail/slab_tree.hpp>
#include <sluice/memory/detail/thread_cache.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>

namespace sluice::detail {

/// One pool: its slabs, its depot, and the caches of the threads that use it.
///
/// The common cache belongs to no thread, and the lock guards it. It takes the blocks of threads
/// that end, and serves threads without a cache. No call of the memory resource is under the lock.
///
/// Lifetime: the users are the pool and each thread with a cache. The end of the pool frees the
/// slabs and magazines. The last user frees the caches.
template <class Traits>
class PoolCore : public SharedHome<PoolCore<Traits>, typename Traits::Platform> {
    friend class SharedHome<PoolCore, typename Traits::Platform>;
    using Platform = typename Traits::Platform;
    static constexpr std::size_t line = Traits::cacheLineSize;

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Depot = PoolDepot<Traits>;
    using Cache = typename Depot::Cache;
    using Lock = SpinLock;
    using Guard = std::lock_guard<Lock>;
    using Magazine = typename Depot::Magazine;
    using Refill = typename Depot::Refill;

public:
    /// The cache of a thread, and one spare free block in front of it. A free and the next
    /// allocation pass the spare on without counting, which saves a third of their time.
    struct alignas(std::max(line, alignof(Cache))) Slot {
        Atomic<void*> spare{nullptr};  // relaxed, always: others only compare it
        Cache cache;
        bool isTaken = true;  // guarded by lock_
        Slot* next = nullptr;
    };

    PoolCore(const SlabLayout& layout, std::size_t capacity, std::pmr::memory_resource* memory)
        : layout_(layout), capacity_(capacity), memory_(memory), depot_(memory) {
        depot_.equip(common_);
        toldOfPool(this);
    }

    // ---- For ThreadTable

    /// If it throws, nothing has changed.
    Slot& enroll(const void*) {
        Slot* slot = unusedSlot();
        if (slot == nullptr) {
            slot = &addSlot();
        }
        this->addUser();
        return *slot;
    }

    void dismiss(Slot& slot) noexcept {
        {
            const Guard guard(lock_);
            if (!this->isAbandoned()) {
                remoteFrees_ += surplusOf(guard, slot);
                emptyIntoCommon(guard, slot);
                slot.cache.given.store(0, std::memory_order_relaxed);  // for its next user
            }
            slot.isTaken = false;
        }
        this->dropUser();
    }

    /// Called when the pool ends. No thread allocates or frees any more, but threads may still end.
    /// Gives all memory back to the memory resource.
    void abandon() noexcept {
        {
            const Guard guard(lock_);
            this->markAbandoned();
        }
        toldOfPoolsEnd(this);
        (void)destroyAll(slabs_.takeAll());
        depot_.clear();
        this->dropUser();
    }

    // ---- Blocks

    // A thread without a cache passes a null slot. The common cache then serves the call.

    /// Takes a block of the slot, without the depot. Returns null if the slot has none.
    static void* tryTake(Slot* slot) noexcept {
        if (__builtin_expect(slot == nullptr, 0)) {
            return nullptr;
        }
        void* const spare = slot->spare.load(std::memory_order_relaxed);
        if (spare == nullptr) {
            return slot->cache.tryTake();
        }
        slot->spare.store(nullptr, std::memory_order_relaxed);
        return spare;
    }
    /// Gives a block to the slot, without the depot. Returns false if there is no room.
    static bool tryGive(Slot* slot, void* block) noexcept {
        if (__builtin_expect(slot == nullptr, 0)) {
            return false;
        }
        if (void* const spare = slot->spare.load(std::memory_order_relaxed)) {
            if (__builtin_expect(spare == block, 0)) {
                failFreedTwice(block);  // in release builds, too
            }
            return slot->cache.tryGive(block);
        }
        slot->spare.store(block, std::memory_order_relaxed);
        return true;
    }

    /// A block, or null if there is none in the slot, in the depot or in the common cache.
    void* take(Slot* slot) noexcept {
        if (slot != nullptr) {
            if (void* const own = takeByOwn(*slot)) {
                return own;
            }
        }
        const Guard guard(lock_);
        void* const block = depot_.take(common_);
        if (block != nullptr && slot != nullptr) {
            slot->cache.countGiven(-1);
        }
        return block;
    }

    void give(Slot* slot, void* block) noexcept {
        if (slot == nullptr) {
            const Guard guard(lock_);
            depot_.give(common_, block);
            return;
        }
        while (!slot->cache.tryGive(block)) {
            if (!depot_.makeRoom(slot->cache)) {
                open(*slot);
            }
        }
    }

    /// Adds a slab of `most` blocks, or of as many as the capacity allows. If it allows none,
    /// returns whether another thread is about to add a slab. If it throws, nothing has changed.
    bool grow(std::size_t most) {
        const std::size_t count = reserve(most);
        if (count == 0) {
            // Under the lock: a thread that gets the answer "no" finds the blocks of all earlier
            // reservations.
            const Guard guard(lock_);
            return blocks_.load(std::memory_order_relaxed) != present_;
        }
        Reservation reservation{*this, count};
        // Relaxed: the sum includes this reservation. Later reservations provide for it, too.
        depot_.provideFor(blocks_.load(std::memory_order_relaxed));
        Slab& slab = Slab::create(layout_, count, memory_);
        reservation.count = 0;
        const Guard guard(lock_);
        slabs_.insert(slab);
        present_ += count;
        depot_.add(common_, count, [&](std::size_t i) { return slab.block(i, layout_); });
        return true;
    }

    void countExhausted() noexcept {
        exhausted_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
    }

    /// Moves blocks from the caches of idle threads to where take() finds them. Waits for the
    /// trim() of another thread, which may hold free blocks.
    void reclaim() noexcept;
    /// Empties this slot, if it is not null, and the caches of idle threads. Then gives slabs
    /// without a used block back, and returns their bytes.
    std::size_t trim(Slot* slot) noexcept;

    /// Whether the pool has a block at this address.
    bool owns(const void* address) const noexcept {
        const Guard guard(lock_);
        const Slab* const slab = slabOf(guard, address);
        return slab != nullptr && slab->hasBlockAt(address, layout_);
    }

    // ---- For debug builds

    /// Marks a free block as used. Returns false if there is no block at this address.
    bool noteTaken(const void* block) const noexcept {
        const Guard guard(lock_);
        Slab* const slab = slabOf(guard, block);
        return slab != nullptr && (slab->exchangeMark(block, layout_, false), true);
    }

    /// Marks a block as free. Returns false if the block is free already. The mark alone cannot
    /// tell: code without assertions allocates blocks without a mark.
    bool noteFreed(const void* block) const noexcept {
        const Guard guard(lock_);
        return !slabOf(guard, block)->exchangeMark(block, layout_, true) || !isFree(guard, block);
    }

    /// Exact while no thread uses the pool.
    BlockPoolStatistics figures() const noexcept {
        const Guard guard(lock_);
        std::size_t cached = depot_.blocksIn(guard, common_);
        std::uint64_t remoteFrees = remoteFrees_;
        for (const Slot* slot = slots_; slot != nullptr; slot = slot->next) {
            cached += blocksIn(guard, *slot);
            remoteFrees += surplusOf(guard, *slot);
        }
        const std::size_t outside = depot_.outside();
        return {present_, outside > cached ? outside - cached : 0, depot_.highWater(),
                exhausted_.load(std::memory_order_relaxed), remoteFrees};
    }

private:
    struct TrimLock;
    /// Closes the caches of other threads, and empties each cache that its thread is not using. A
    /// thread that finds its cache closed opens it. Each thread keeps its spare block.
    void emptyIdleCaches(const TrimLock&) noexcept;
    /// Holds the lock for a magazine at a time, and once for a walk along the slabs.
    Slab* withdrawUnusedSlabs(const TrimLock&) noexcept;

    /// Takes back the count of a reserve().
    struct Reservation {
        PoolCore& core;
        std::size_t count;
        // Relaxed: a number that is checked against the capacity, no data.
        ~Reservation() { core.blocks_.fetch_sub(count, std::memory_order_relaxed); }
    };

    ~PoolCore() {
        while (slots_ != nullptr) {
            delete std::exchange(slots_, slots_->next);
        }
    }

    Slot* unusedSlot() noexcept {
        const Guard guard(lock_);
        Slot* slot = slots_;
        while (slot != nullptr && slot->isTaken) {
            slot = slot->next;
        }
        if (slot != nullptr) {
            slot->isTaken = true;
        }
        return slot;
    }

    Slot& addSlot() {
        auto slot = std::make_unique<Slot>();
        depot_.equip(slot->cache);
        const Guard guard(lock_);
        slot->next = std::exchange(slots_, slot.get());
        return *slot.release();
    }

    /// The thread of the slot calls it.
    void* takeByOwn(Slot& slot) noexcept {
        for (;;) {
            // Tries the spare, too: a call whose first search has missed the slot has not tried it.
            if (void* const block = tryTake(&slot)) {
                return block;
            }
            const Refill refill = depot_.refill(slot.cache);
            if (refill == Refill::none) {
                return nullptr;
            }
            if (refill == Refill::closed) {
                open(slot);
            }
        }
    }

    void open(Slot& slot) noexcept {
        const Guard guard(lock_);
        depot_.open(guard, slot.cache);
    }

    /// Reserves up to `most` blocks for the next slab, and returns their number.
    std::size_t reserve(std::size_t most) noexcept {
        std::size_t blocks = blocks_.load(std::memory_order_relaxed);
        std::size_t count = 0;
        do {
            count = std::min(most, capacity_ - blocks);
        } while (count != 0 &&
                 !blocks_.compare_exchange_weak(blocks, blocks + count, std::memory_order_relaxed,
                                                std::memory_order_relaxed));
        return count;
    }

    std::size_t blocksIn(const Guard& guard, const Slot& slot) const noexcept {
        return depot_.blocksIn(guard, slot.cache) +
               (slot.spare.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
    }
    /// The number of blocks freed into the slot, less the blocks allocated from it; at least 0.
    std::uint64_t surplusOf(const Guard& guard, const Slot& slot) const noexcept {
        const std::int64_t surplus = slot.cache.given.load(std::memory_order_relaxed) +
                                     static_cast<std::int64_t>(blocksIn(guard, slot));
        return surplus > 0 ? static_cast<std::uint64_t>(surplus) : 0;
    }

    /// Reads every magazine.
    bool isFree(const Guard& /*guard*/, const void* block) const noexcept {
        const Slot* slot = slots_;
        while (slot != nullptr && slot->spare.load(std::memory_order_relaxed) != block) {
            slot = slot->next;
        }
        return slot != nullptr || depot_.holds(block);
    }

    void emptyIntoCommon(const Guard& guard, Slot& slot) noexcept {
        void* const spare = slot.spare.load(std::memory_order_relaxed);
        if (spare != nullptr) {
            slot.spare.store(nullptr, std::memory_order_relaxed);
            depot_.give(common_, spare);
            slot.cache.countGiven(1);
        }
        depot_.emptyInto(common_, slot.cache);
        depot_.open(guard, slot.cache);
    }

    std::size_t destroyAll(Slab* slabs) noexcept {
        std::size_t bytes = 0;
        while (slabs != nullptr) {
            bytes += Slab::bytesOf(layout_, slabs->blockCount());
            Slab::destroy(*std::exchange(slabs, slabs->next), layout_, memory_);
        }
        return bytes;
    }

    Slab* slabOf(const Guard& /*guard*/, const void* address) const noexcept {
        return slabs_.find(address, layout_);
    }
    /// Adds the block to the count of free blocks of its slab.
    void countFree(const Guard& guard, const void* block) noexcept {
        Slab* const slab = slabOf(guard, block);
        if (__builtin_expect(slab == nullptr, 0)) {
            failForeign();
        }
        ++slab->freeBlocks;
    }

    const SlabLayout layout_;
    const std::size_t capacity_;
    std::pmr::memory_resource* const memory_;
    Depot depot_;

    Lock trimMutex_;  // held for a trim, and while idle caches are emptied; locked before lock_
    alignas(line) alignas(Lock) mutable Lock lock_;
    SlabTree slabs_;
    Slot* slots_ = nullptr;
    Cache common_;
    std::uint64_t remoteFrees_ = 0;  // of threads that have ended
    std::size_t present_ = 0;        // blocks in slabs
    Atomic<std::size_t> blocks_{0};  // present_, and blocks reserved for new slabs
    Atomic<std::uint64_t> exhausted_{0};
};

}  // namespace sluice::detail
