#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/memory/detail/pool_depot.hpp>
#include <sluice/memory/detail/slab.hpp>

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
/// The common cache, under the lock, belongs to nobody: it takes the blocks of threads that end,
/// and serves calls without a cache. The memory resource is never called under the lock.
///
/// Lifetime: counted, as ThreadTable needs it. The pool is one user, each thread with a cache
/// another. The slabs and magazines go with the pool, the caches with the last user.
template <class Traits>
class PoolCore {
    using Platform = typename Traits::Platform;
    static constexpr std::size_t line = Traits::cacheLineSize;

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Depot = PoolDepot<Traits>;
    using Cache = typename Depot::Cache;
    using Lock = BasicSpinLock<Platform>;

public:
    /// What a thread has of a pool. In front of the cache stands one spare block, the last one
    /// freed: a call that frees and the next one that allocates pass it on without counting, which
    /// takes a third off their time.
    struct alignas(line) alignas(Cache) Slot {
        Atomic<void*> spare{nullptr};  // relaxed, always: others merely look whether there is one
        Cache cache;
        bool isTaken = true;  // under the lock
        Slot* next = nullptr;
    };

    struct Figures {
        std::size_t blocks;
        std::size_t used;
        std::size_t highWater;
        std::uint64_t exhausted;
        std::uint64_t returned;
    };

    PoolCore(const SlabLayout& layout, std::size_t capacity, std::size_t blocksPerSlab,
             std::pmr::memory_resource* memory)
        : layout_(layout),
          capacity_(capacity),
          blocksPerSlab_(blocksPerSlab),
          memory_(memory),
          depot_(memory) {
        depot_.equip(common_);
    }
    PoolCore(const PoolCore&) = delete;
    PoolCore& operator=(const PoolCore&) = delete;

    // ---- As a home of threads

    /// May throw std::bad_alloc, then nothing has happened.
    Slot& enroll(const void*) {
        Slot* slot = unusedSlot();
        if (slot == nullptr) {
            slot = &addSlot();
        }
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds a use already
        return *slot;
    }

    void dismiss(Slot& slot) noexcept {
        {
            const std::lock_guard<Lock> guard(lock_);
            if (!isAbandoned()) {
                emptyIntoCommon(slot);
            }
            slot.isTaken = false;
        }
        dropUser();
    }

    /// Relaxed: who reads the old value merely keeps the memory a little longer.
    bool isAbandoned() const noexcept { return isAbandoned_.load(std::memory_order_relaxed); }

    /// The pool ends: nobody allocates or frees any more, though threads may still end. All that
    /// came from the memory resource goes back there.
    void abandon() noexcept {
        {
            const std::lock_guard<Lock> guard(lock_);
            isAbandoned_.store(true, std::memory_order_relaxed);  // relaxed: see isAbandoned()
        }
        (void)destroyAll(std::exchange(slabs_, nullptr));
        depot_.clear();
        dropUser();
    }

    // ---- Blocks

    // A slot is null for a thread without a cache: then the common one serves.

    /// What the slot's cache can do by itself, without the depot: a block, or null.
    static void* tryTake(Slot* slot) noexcept {
        if (__builtin_expect(slot == nullptr, 0)) {
            return nullptr;
        }
        void* const spare = slot->spare.load(std::memory_order_relaxed);
        if (spare == nullptr) {
            return Depot::tryTake(slot->cache);
        }
        slot->spare.store(nullptr, std::memory_order_relaxed);
        return spare;
    }
    /// The same for giving one back; false when it cannot.
    static bool tryGive(Slot* slot, void* block) noexcept {
        if (__builtin_expect(slot == nullptr, 0)) {
            return false;
        }
        if (slot->spare.load(std::memory_order_relaxed) != nullptr) {
            return Depot::tryGive(slot->cache, block);
        }
        slot->spare.store(block, std::memory_order_relaxed);
        return true;
    }

    /// A block, or null when there is none in the cache, in the depot or in the common cache.
    void* take(Slot* slot) noexcept {
        void* const block = slot != nullptr ? depot_.take(slot->cache) : nullptr;
        if (block != nullptr) {
            return block;
        }
        const std::lock_guard<Lock> guard(lock_);
        return depot_.take(common_);
    }

    void give(Slot* slot, void* block) noexcept {
        if (slot != nullptr) {
            depot_.give(slot->cache, block);
            return;
        }
        const std::lock_guard<Lock> guard(lock_);
        depot_.give(common_, block);
    }

    /// Adds a slab. False when the capacity is reached; throws what the memory resource throws,
    /// then nothing has happened.
    bool grow() {
        const std::size_t count = reserve();
        if (count == 0) {
            return false;
        }
        Reservation reservation{*this, count};
        depot_.provideFor(count);
        Slab& slab = Slab::create(layout_, count, memory_);
        reservation.count = 0;
        const std::lock_guard<Lock> guard(lock_);
        slab.next = std::exchange(slabs_, &slab);
        depot_.add(common_, count, [&](std::size_t i) { return slab.block(i, layout_); });
        return true;
    }

    void countExhausted() noexcept {
        exhausted_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
    }

    /// Gives slabs without a used block back, and first the blocks in this slot, if it is one;
    /// returns how many bytes.
    std::size_t trim(Slot* slot) noexcept {
        Slab* unused = nullptr;
        {
            const std::lock_guard<Lock> guard(lock_);
            if (slot != nullptr) {
                emptyIntoCommon(*slot);
            }
            for (Slab* slab = slabs_; slab != nullptr; slab = slab->next) {
                slab->freeBlocks = 0;
            }
            depot_.sweep(
                common_, [this](void* block) { ++slabOf(block)->freeBlocks; },
                [this](void* block) { return slabOf(block)->isUsed(); });
            unused = takeUnusedSlabs();
        }
        return destroyAll(unused);
    }

    /// Whether the pool has a block at this address. Walks the slabs.
    bool owns(const void* address) const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        const Slab* const slab = slabOf(address);
        return slab != nullptr && slab->hasBlockAt(address, layout_);
    }

    // ---- For debug builds

    /// Notes that a block, which was free, is used from now on. False when it is no block at all.
    bool noteTaken(const void* block) const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        Slab* const slab = slabOf(block);
        return slab != nullptr && (slab->exchangeMark(block, layout_, false), true);
    }

    /// Notes that a block is free from now on. False when it is free already, wherever it lies. The
    /// mark alone would not tell, when it was allocated by code built without assertions.
    bool noteFreed(const void* block) const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        return !slabOf(block)->exchangeMark(block, layout_, true) || !isFree(block);
    }

    /// Exact when nobody is at work.
    Figures figures() const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        std::size_t cached = Depot::blocksIn(common_);
        std::uint64_t returned = 0;
        for (const Slot* slot = slots_; slot != nullptr; slot = slot->next) {
            cached += Depot::blocksIn(slot->cache) +
                      (slot->spare.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
            returned += Depot::returnedBy(slot->cache);
        }
        const std::size_t outside = depot_.outside();
        return {blocks_.load(std::memory_order_relaxed), outside > cached ? outside - cached : 0,
                depot_.highWater(), exhausted_.load(std::memory_order_relaxed), returned};
    }

private:
    /// Takes back what reserve() has counted.
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
        const std::lock_guard<Lock> guard(lock_);
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
        const std::lock_guard<Lock> guard(lock_);
        slot->next = slots_;
        slots_ = slot.release();
        return *slots_;
    }

    /// How many blocks the next slab may have; they are counted already.
    std::size_t reserve() noexcept {
        std::size_t blocks = blocks_.load(std::memory_order_relaxed);
        std::size_t count = 0;
        do {
            count = std::min(blocksPerSlab_, capacity_ - blocks);
        } while (count != 0 &&
                 !blocks_.compare_exchange_weak(blocks, blocks + count, std::memory_order_relaxed,
                                                std::memory_order_relaxed));
        return count;
    }

    /// Under the lock. Looks into every magazine.
    bool isFree(const void* block) const noexcept {
        const Slot* slot = slots_;
        while (slot != nullptr && slot->spare.load(std::memory_order_relaxed) != block) {
            slot = slot->next;
        }
        return slot != nullptr || depot_.holds(block);
    }

    /// Under the lock.
    void emptyIntoCommon(Slot& slot) noexcept {
        void* const spare = slot.spare.load(std::memory_order_relaxed);
        if (spare != nullptr) {
            slot.spare.store(nullptr, std::memory_order_relaxed);
            depot_.give(common_, spare);
        }
        depot_.emptyInto(common_, slot.cache);
    }

    /// Under the lock.
    Slab* takeUnusedSlabs() noexcept {
        Slab* unused = nullptr;
        for (Slab** link = &slabs_; *link != nullptr;) {
            Slab& slab = **link;
            if (slab.isUsed()) {
                link = &slab.next;
            } else {
                *link = std::exchange(slab.next, unused);
                unused = &slab;
                blocks_.fetch_sub(slab.blockCount(), std::memory_order_relaxed);
            }
        }
        return unused;
    }

    std::size_t destroyAll(Slab* slabs) noexcept {
        std::size_t bytes = 0;
        while (slabs != nullptr) {
            bytes += Slab::bytesOf(layout_, slabs->blockCount());
            Slab::destroy(*std::exchange(slabs, slabs->next), layout_, memory_);
        }
        return bytes;
    }

    /// Under the lock.
    Slab* slabOf(const void* address) const noexcept {
        Slab* slab = slabs_;
        while (slab != nullptr && !slab->covers(address, layout_)) {
            slab = slab->next;
        }
        return slab;
    }

    void dropUser() noexcept {
        // Release: what this user did comes before the destruction. Acquire: so did all the others.
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    const SlabLayout layout_;
    const std::size_t capacity_;
    const std::size_t blocksPerSlab_;
    std::pmr::memory_resource* const memory_;
    Depot depot_;

    alignas(line) alignas(Lock) mutable Lock lock_;
    Slab* slabs_ = nullptr;
    Slot* slots_ = nullptr;
    Cache common_;
    Atomic<std::size_t> blocks_{0};
    Atomic<std::uint64_t> exhausted_{0};
    Atomic<std::size_t> users_{1};
    Atomic<bool> isAbandoned_{false};
};

}  // namespace sluice::detail
