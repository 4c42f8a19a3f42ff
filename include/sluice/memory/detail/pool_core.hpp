#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/memory/detail/magazine.hpp>
#include <sluice/memory/detail/slab.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <utility>

namespace sluice::detail {

/// The free blocks of one pool: in threads' caches, and in the depot they all share.
///
/// A cache holds two magazines. A block comes from the loaded one and goes back to it; when that
/// will not do, the two change places; when that will not do either, one is exchanged with the
/// depot, a full one for an empty one. So at least as many calls as a magazine has rounds lie
/// between two exchanges of the same kind. (J. Bonwick and J. Adams, "Magazines and Vmem", 2001;
/// here the depot is two lock-free stacks instead of two lists under a lock.)
///
/// The common cache, under the lock, belongs to nobody: it takes the blocks of threads that end,
/// and serves calls without a cache. Only full magazines are in the stack of full ones. There are
/// as many magazines as the blocks would fill and two for each cache, so whoever must get rid of a
/// full one always finds an empty one.
///
/// Lifetime: counted, as ThreadTable needs it. The pool is one user, each thread with a
/// cache another. The slabs and magazines go with the pool, the caches with the last user.
template <class Traits>
class PoolCore {
    using Platform = typename Traits::Platform;
    static constexpr std::size_t rounds = Traits::magazineRounds;
    static constexpr std::size_t line = Traits::cacheLineSize;
    static_assert(rounds > 0, "magazineRounds of the traits must not be 0");

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Magazine = detail::Magazine<Platform, rounds>;
    using Store = MagazineStore<Platform, rounds>;
    using Stack = MagazineStack<Platform, rounds>;
    using Lock = BasicSpinLock<Platform>;

public:
    /// A thread's cache. Only its thread uses it, but for the sizes of the magazines.
    struct alignas(line) Slot {
        Atomic<Magazine*> loaded{nullptr};
        Atomic<Magazine*> previous{nullptr};
        bool isTaken = true;  // under the lock
        Slot* next = nullptr;
    };

    struct Figures {
        std::size_t blocks;
        std::size_t free;
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
          store_(memory) {
        common_.loaded.store(&store_.create(), std::memory_order_relaxed);
        common_.previous.store(&store_.create(), std::memory_order_relaxed);
    }
    PoolCore(const PoolCore&) = delete;
    PoolCore& operator=(const PoolCore&) = delete;

    // ---- As a home of threads

    /// May throw std::bad_alloc, then nothing has happened.
    Slot& enroll(const void*) {
        const std::lock_guard<Lock> guard(lock_);
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds a use already
        for (Slot* slot = caches_; slot != nullptr; slot = slot->next) {
            if (!slot->isTaken) {
                slot->isTaken = true;
                return *slot;
            }
        }
        return addCache();
    }

    void dismiss(Slot& cache) noexcept {
        {
            const std::lock_guard<Lock> guard(lock_);
            if (!isAbandoned()) {
                emptyInto(common_, cache);
            }
            cache.isTaken = false;
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
            while (slabs_ != nullptr) {
                Slab::destroy(*std::exchange(slabs_, slabs_->next), layout_, memory_);
            }
            store_.clear();
            isAbandoned_.store(true, std::memory_order_relaxed);  // relaxed: see isAbandoned()
        }
        dropUser();
    }

    // ---- Blocks

    /// A block, or null when there is none in the cache, in the depot or in the common cache.
    void* take(Slot& cache) noexcept {
        Magazine* const loaded = loadedOf(cache);
        if (__builtin_expect(!loaded->isEmpty(), 1)) {
            return loaded->pop();
        }
        if (!refill(cache)) {
            return takeCommon();
        }
        return loadedOf(cache)->pop();
    }

    void give(Slot& cache, void* block) noexcept {
        if (__builtin_expect(loadedOf(cache)->isFull(), 0)) {
            makeRoom(cache);
        }
        loadedOf(cache)->push(block);
    }

    /// The same without a cache.
    void* takeCommon() noexcept {
        const std::lock_guard<Lock> guard(lock_);
        if (loadedOf(common_)->isEmpty() && !refill(common_)) {
            return nullptr;
        }
        return loadedOf(common_)->pop();
    }

    void giveCommon(void* block) noexcept {
        const std::lock_guard<Lock> guard(lock_);
        give(common_, block);
    }

    /// Adds a slab. False when the capacity is reached; throws what the memory resource throws,
    /// then nothing has happened.
    bool grow() {
        const std::size_t count = reserve();
        if (count == 0) {
            return false;
        }
        Reservation reservation{*this, count};
        Slab& slab = Slab::create(layout_, count, memory_);
        SlabGuard slabGuard{*this, &slab};
        const std::lock_guard<Lock> guard(lock_);
        for (std::size_t full = 0; full < count / rounds + 1; ++full) {
            empties_.push(store_.create());
        }
        reservation.count = 0;
        slabGuard.slab = nullptr;
        slab.next = std::exchange(slabs_, &slab);
        outside_.fetch_add(count, std::memory_order_relaxed);  // until give() has put them away
        for (std::size_t i = count; i != 0; --i) {
            give(common_, slab.block(i - 1, layout_));
        }
        return true;
    }

    void countExhausted() noexcept {
        exhausted_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
    }

    /// Gives slabs without a used block back; returns their size in bytes.
    std::size_t trim(Slot* cache) noexcept {
        const std::lock_guard<Lock> guard(lock_);
        if (cache != nullptr) {
            emptyInto(common_, *cache);
        }
        for (Slab* slab = slabs_; slab != nullptr; slab = slab->next) {
            slab->freeBlocks = 0;
        }
        Magazine* const held = withdrawAll();
        for (Magazine* m = held; m != nullptr; m = nextHeld(*m)) {
            countBySlab(*m);
        }
        // The common cache's own come first: the others are poured into them.
        for (Magazine* m = held; m != nullptr;) {
            Magazine& magazine = *std::exchange(m, nextHeld(*m));
            putBackUsed(magazine);
        }
        return releaseFreeSlabs();
    }

    /// Whether the pool has a block at this address. Walks the slabs.
    bool owns(const void* address) const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        const Slab* const slab = slabOf(address);
        return slab != nullptr && slab->hasBlockAt(address, layout_);
    }

    /// Whether the block lies free in this cache.
    static bool isFreeIn(const Slot& cache, const void* block) noexcept {
        for (const Magazine* magazine : {loadedOf(cache), previousOf(cache)}) {
            const auto begin = magazine->blocks.begin();
            const auto end = begin + static_cast<std::ptrdiff_t>(magazine->size());
            if (std::find(begin, end, block) != end) {
                return true;
            }
        }
        return false;
    }

    /// Exact when nobody is at work.
    Figures figures() const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        // Relaxed, all: figures, no data.
        const std::size_t blocks = blocks_.load(std::memory_order_relaxed);
        const std::size_t outside = outside_.load(std::memory_order_relaxed);
        std::size_t cached = roundsIn(common_);
        for (const Slot* cache = caches_; cache != nullptr; cache = cache->next) {
            cached += roundsIn(*cache);
        }
        const std::size_t used = outside > cached ? outside - cached : 0;
        return {
            blocks, blocks > used ? blocks - used : 0, highWater_.load(std::memory_order_relaxed),
            exhausted_.load(std::memory_order_relaxed), returned_.load(std::memory_order_relaxed)};
    }

    const SlabLayout& layout() const noexcept { return layout_; }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    struct Reservation {
        PoolCore& core;
        std::size_t count;
        // Relaxed: a number that is checked against the capacity, no data.
        ~Reservation() { core.blocks_.fetch_sub(count, std::memory_order_relaxed); }
    };
    struct SlabGuard {
        PoolCore& core;
        Slab* slab;
        ~SlabGuard() {
            if (slab != nullptr) {
                Slab::destroy(*slab, core.layout_, core.memory_);
            }
        }
    };

    ~PoolCore() {
        while (caches_ != nullptr) {
            delete std::exchange(caches_, caches_->next);
        }
    }

    // Relaxed: who holds a cache has written these itself, or got the cache under the lock; the
    // others only want sizes, and magazines live as long as the core.
    static Magazine* loadedOf(const Slot& cache) noexcept {
        return cache.loaded.load(std::memory_order_relaxed);
    }
    static Magazine* previousOf(const Slot& cache) noexcept {
        return cache.previous.load(std::memory_order_relaxed);
    }
    static void set(Slot& cache, Magazine* loaded, Magazine* previous) noexcept {
        cache.loaded.store(loaded, std::memory_order_relaxed);
        cache.previous.store(previous, std::memory_order_relaxed);
    }
    static std::size_t roundsIn(const Slot& cache) noexcept {
        return loadedOf(cache)->size() + previousOf(cache)->size();
    }

    /// Under the lock.
    Slot& addCache() {
        UseGuard use{*this};
        Magazine& loaded = store_.create();
        Magazine& previous = store_.create();
        auto* const slot = new Slot;
        use.isOpen = false;
        set(*slot, &loaded, &previous);
        slot->next = std::exchange(caches_, slot);
        return *slot;
    }

    struct UseGuard {
        PoolCore& core;
        bool isOpen = true;
        ~UseGuard() {
            if (isOpen) {
                core.users_.fetch_sub(1, std::memory_order_relaxed);  // never the last: the pool's
            }
        }
    };

    /// The loaded magazine is empty: makes it another one. False when none is to be had.
    [[gnu::noinline]] bool refill(Slot& cache) noexcept {
        Magazine* const empty = loadedOf(cache);
        Magazine* const previous = previousOf(cache);
        if (!previous->isEmpty()) {
            set(cache, previous, empty);
            return true;
        }
        Magazine* const full = full_.pop(store_);
        if (full == nullptr) {
            return false;
        }
        noteOutside();
        set(cache, full, empty);
        empties_.push(*previous);
        return true;
    }

    /// The loaded magazine is full: makes it one with room.
    [[gnu::noinline]] void makeRoom(Slot& cache) noexcept {
        Magazine* const loaded = loadedOf(cache);
        Magazine* const previous = previousOf(cache);
        if (!previous->isFull()) {
            set(cache, previous, loaded);
            return;
        }
        Magazine* const empty = empties_.pop(store_);
        SLUICE_ASSERT(empty != nullptr, "a pool holds more free blocks than it has: a block was "
                                        "freed twice");
        set(cache, empty, loaded);
        // Relaxed: figures.
        outside_.fetch_sub(rounds, std::memory_order_relaxed);
        if (&cache != &common_) {
            returned_.fetch_add(rounds, std::memory_order_relaxed);
        }
        full_.push(*previous);
    }

    void noteOutside() noexcept {
        // Relaxed: figures.
        const std::size_t outside = outside_.fetch_add(rounds, std::memory_order_relaxed) + rounds;
        std::size_t most = highWater_.load(std::memory_order_relaxed);
        while (outside > most &&
               !highWater_.compare_exchange_weak(most, outside, std::memory_order_relaxed,
                                                 std::memory_order_relaxed)) {
        }
    }

    /// Under the lock.
    void emptyInto(Slot& to, Slot& from) noexcept {
        for (Magazine* magazine : {loadedOf(from), previousOf(from)}) {
            while (!magazine->isEmpty()) {
                give(to, magazine->pop());
            }
        }
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

    // ---- Trimming, under the lock. Magazines that were taken out are linked by `next`.

    Magazine* nextHeld(const Magazine& magazine) const noexcept {
        const std::uint32_t number = magazine.next.load(std::memory_order_relaxed);
        return number == 0 ? nullptr : &store_.at(number);
    }

    Magazine* withdrawAll() noexcept {
        Magazine* held = nullptr;
        const auto hold = [&held](Magazine& magazine) {
            magazine.next.store(held == nullptr ? 0 : held->number, std::memory_order_relaxed);
            held = &magazine;
        };
        while (Magazine* const full = full_.pop(store_)) {
            outside_.fetch_add(rounds, std::memory_order_relaxed);
            hold(*full);
        }
        for (Magazine* magazine : {loadedOf(common_), previousOf(common_)}) {
            if (!magazine->isEmpty()) {
                hold(*magazine);
            }
        }
        return held;
    }

    void countBySlab(const Magazine& magazine) noexcept {
        for (std::size_t i = 0; i < magazine.size(); ++i) {
            ++slabOf(magazine.blocks[i])->freeBlocks;
        }
    }

    void putBackUsed(Magazine& magazine) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < magazine.size(); ++i) {
            const Slab& slab = *slabOf(magazine.blocks[i]);
            if (slab.freeBlocks != slab.blockCount()) {
                magazine.blocks[kept++] = magazine.blocks[i];
            }
        }
        magazine.count.store(static_cast<std::uint32_t>(kept), std::memory_order_relaxed);
        if (&magazine == loadedOf(common_) || &magazine == previousOf(common_)) {
            return;
        }
        while (!magazine.isEmpty()) {
            give(common_, magazine.pop());
        }
        empties_.push(magazine);
    }

    std::size_t releaseFreeSlabs() noexcept {
        std::size_t bytes = 0;
        for (Slab** link = &slabs_; *link != nullptr;) {
            Slab& slab = **link;
            if (slab.freeBlocks != slab.blockCount()) {
                link = &slab.next;
                continue;
            }
            *link = slab.next;
            bytes += Slab::bytesOf(layout_, slab.blockCount());
            outside_.fetch_sub(slab.blockCount(), std::memory_order_relaxed);
            blocks_.fetch_sub(slab.blockCount(), std::memory_order_relaxed);
            Slab::destroy(slab, layout_, memory_);
        }
        return bytes;
    }

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
    Store store_;

    // What every exchange with the depot writes.
    alignas(line) Stack full_;
    Stack empties_;
    Atomic<std::size_t> outside_{0};  // blocks not in full_: used, or in a cache
    Atomic<std::size_t> highWater_{0};
    Atomic<std::uint64_t> returned_{0};

    alignas(line) mutable Lock lock_;
    Slab* slabs_ = nullptr;
    Slot* caches_ = nullptr;
    Slot common_;
    Atomic<std::size_t> blocks_{0};
    Atomic<std::uint64_t> exhausted_{0};
    Atomic<std::size_t> users_{1};
    Atomic<bool> isAbandoned_{false};
};

}  // namespace sluice::detail
