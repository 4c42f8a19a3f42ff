#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/store_max.hpp>
#include <sluice/memory/detail/magazine.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>

namespace sluice::detail {

/// The free blocks that the caches of a pool share, a magazine at a time.
///
/// A cache holds two magazines. A block comes from the loaded one and goes back to it; when that
/// will not do, the two change places; when that will not do either, one is exchanged with the
/// depot, a full one for an empty one. So at least as many calls as a magazine has rounds lie
/// between two exchanges of the same kind. (J. Bonwick and J. Adams, "Magazines and Vmem", 2001;
/// here the depot is two lock-free stacks instead of two lists under a lock.)
///
/// Only full magazines are in the stack of full ones. There are as many magazines as the blocks
/// would fill and two for each cache, so whoever must get rid of a full one always finds an empty
/// one. None is given back before the pool ends.
template <class Traits>
class PoolDepot {
    using Platform = typename Traits::Platform;
    static constexpr std::size_t rounds = Traits::magazineRounds;
    static_assert(rounds > 0, "magazineRounds of the traits must not be 0");

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Magazine = detail::Magazine<Platform, rounds>;
    using Store = MagazineStore<Platform, rounds>;
    using Stack = MagazineStack<Platform, rounds>;

public:
    /// Used by one thread at a time, but for the figures.
    struct Cache {
        Atomic<Magazine*> loaded{nullptr};
        Atomic<Magazine*> previous{nullptr};
        /// Blocks that went from here to others, less those that came from them.
        Atomic<std::int64_t> given{0};
    };

    explicit PoolDepot(std::pmr::memory_resource* memory) noexcept : store_(memory) {}

    /// Gives a cache its magazines. Throws what the memory resource throws.
    void equip(Cache& cache) {
        Magazine& loaded = store_.create();
        set(cache, &loaded, &store_.create());
    }

    /// To be called before blocks are added, with how many there will be then. Throws what the
    /// memory resource throws; what was provided until then is there for the next time.
    void provideFor(std::size_t blocks) {
        // Edge E3 provided: magazine pushed -> provided_ release .. acquire -> blocks added by
        // whoever relies on it.
        while (provided_.load(std::memory_order_acquire) < blocks / rounds + 1) {
            empties_.push(store_.create());
            provided_.fetch_add(1, std::memory_order_release);
        }
    }

    /// Adds new blocks by way of a cache, which may be given `block(i)` for each i below `count`.
    template <class Block>
    void add(Cache& cache, std::size_t count, Block block) noexcept {
        for (std::size_t i = count; i != 0; --i) {
            countOutside(1);  // unless give() puts them away
            give(cache, block(i - 1));
        }
    }

    /// Frees the memory of all magazines: no cache is used any more.
    void clear() noexcept { store_.clear(); }

    // ---- By the user of the cache

    // What a cache can do by itself is a few instructions; the rest is kept out of line, so that a
    // caller saves no registers for it.

    /// A block of the loaded magazine; null when it has none.
    static void* tryTake(Cache& cache) noexcept { return loadedOf(cache)->tryPop(); }

    /// A block; null when there is none in the cache or in the depot.
    void* take(Cache& cache) noexcept {
        void* const block = tryTake(cache);
        if (__builtin_expect(block != nullptr, 1)) {
            return block;
        }
        return refill(cache) ? tryTake(cache) : nullptr;
    }

    /// False when the loaded magazine is full.
    static bool tryGive(Cache& cache, void* block) noexcept {
        return loadedOf(cache)->tryPush(block);
    }

    void give(Cache& cache, void* block) noexcept {
        if (__builtin_expect(!tryGive(cache, block), 0)) {
            makeRoom(cache);
            (void)tryGive(cache, block);
        }
    }

    void emptyInto(Cache& to, Cache& from) noexcept {
        for (Magazine* magazine : {loadedOf(from), previousOf(from)}) {
            while (void* const block = magazine->tryPop()) {
                give(to, block);
                countGiven(from, 1);
            }
        }
    }

    /// Whether the block lies in some magazine. The caller, who has the block, has synchronised
    /// with whoever put it there: that entry is seen; others may change meanwhile.
    bool holds(const void* block) const noexcept {
        for (std::uint32_t number = store_.count(); number != 0; --number) {
            const Magazine& magazine = store_.at(number);
            const auto begin = magazine.blocks.begin();
            const auto end = begin + static_cast<std::ptrdiff_t>(magazine.size());
            if (std::find(begin, end, block) != end) {
                return true;
            }
        }
        return false;
    }

    /// Looks at all blocks that lie free in the depot and in this cache: calls visit(block) for
    /// each, then takes those out for good for which keep(block) is false. Meanwhile they cannot be
    /// allocated.
    template <class Visit, class Keep>
    void sweep(Cache& cache, Visit visit, Keep keep) noexcept {
        Magazine* const held = withdrawAll(cache);
        for (Magazine* m = held; m != nullptr; m = nextHeld(*m)) {
            for (std::size_t i = 0; i < m->size(); ++i) {
                visit(m->blocks[i]);
            }
        }
        // The cache's own come first: the blocks of the others are poured into these.
        for (Magazine* m = held; m != nullptr;) {
            Magazine& magazine = *std::exchange(m, nextHeld(*m));
            const std::size_t removed = filter(magazine, keep);
            if (&magazine == loadedOf(cache) || &magazine == previousOf(cache)) {
                outside_.fetch_sub(removed, std::memory_order_relaxed);
            } else if (removed == 0) {
                full_.push(magazine);
            } else {
                countOutside(magazine.size());
                while (void* const block = magazine.tryPop()) {
                    give(cache, block);
                }
                empties_.push(magazine);
            }
        }
    }

    // ---- Figures. Relaxed, all: no data follows them.

    static std::size_t blocksIn(const Cache& cache) noexcept {
        // Edge E4 figures: magazine created -> set() release .. acquire -> its size read by a
        // thread that does not use the cache.
        return cache.loaded.load(std::memory_order_acquire)->size() +
               cache.previous.load(std::memory_order_acquire)->size();
    }
    /// Blocks that are used or in a cache.
    std::size_t outside() const noexcept { return outside_.load(std::memory_order_relaxed); }
    std::size_t highWater() const noexcept { return highWater_.load(std::memory_order_relaxed); }
    /// By the user of the cache; may be negative.
    static void countGiven(Cache& cache, std::int64_t blocks) noexcept {
        cache.given.store(cache.given.load(std::memory_order_relaxed) + blocks,
                          std::memory_order_relaxed);
    }

private:
    // Relaxed: who uses a cache has written these itself, or got it in a synchronised way. Others
    // only want sizes, see blocksIn(), and magazines live as long as the caches.
    static Magazine* loadedOf(const Cache& cache) noexcept {
        return cache.loaded.load(std::memory_order_relaxed);
    }
    static Magazine* previousOf(const Cache& cache) noexcept {
        return cache.previous.load(std::memory_order_relaxed);
    }
    static void set(Cache& cache, Magazine* front, Magazine* back) noexcept {
        cache.loaded.store(front, std::memory_order_release);
        cache.previous.store(back, std::memory_order_release);
    }

    /// The loaded magazine is empty: makes it another one. False when none is to be had.
    [[gnu::noinline]] bool refill(Cache& cache) noexcept {
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
        countOutside(rounds);
        countGiven(cache, -std::int64_t{rounds});
        set(cache, full, empty);
        empties_.push(*previous);
        return true;
    }

    /// The loaded magazine is full: makes it one with room.
    [[gnu::noinline]] void makeRoom(Cache& cache) noexcept {
        Magazine* const loaded = loadedOf(cache);
        Magazine* const previous = previousOf(cache);
        if (!previous->isFull()) {
            set(cache, previous, loaded);
            return;
        }
        Magazine* const empty = empties_.pop(store_);
        SLUICE_ASSERT(empty != nullptr, "a pool has more free blocks than it has blocks: one was "
                                        "freed twice");
        set(cache, empty, loaded);
        outside_.fetch_sub(rounds, std::memory_order_relaxed);
        countGiven(cache, std::int64_t{rounds});
        full_.push(*previous);
    }

    void countOutside(std::size_t blocks) noexcept {
        const std::size_t outside = outside_.fetch_add(blocks, std::memory_order_relaxed) + blocks;
        storeMax(highWater_, outside);
    }

    // Magazines that were withdrawn are linked by `next`.

    Magazine* nextHeld(const Magazine& magazine) const noexcept {
        const std::uint32_t number = magazine.next.load(std::memory_order_relaxed);
        return number == 0 ? nullptr : &store_.at(number);
    }

    Magazine* withdrawAll(Cache& cache) noexcept {
        Magazine* held = nullptr;
        const auto hold = [&held](Magazine& magazine) {
            magazine.next.store(held == nullptr ? 0 : held->number, std::memory_order_relaxed);
            held = &magazine;
        };
        while (Magazine* const full = full_.pop(store_)) {
            hold(*full);
        }
        for (Magazine* magazine : {loadedOf(cache), previousOf(cache)}) {
            if (!magazine->isEmpty()) {
                hold(*magazine);
            }
        }
        return held;
    }

    /// Returns how many it has taken out.
    template <class Keep>
    static std::size_t filter(Magazine& magazine, Keep& keep) noexcept {
        const std::size_t size = magazine.size();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < size; ++i) {
            if (keep(magazine.blocks[i])) {
                magazine.blocks[kept++] = magazine.blocks[i];
            }
        }
        magazine.count.store(static_cast<std::uint32_t>(kept), std::memory_order_relaxed);
        return size - kept;
    }

    Store store_;

    // What every exchange writes.
    alignas(Traits::cacheLineSize) alignas(Stack) Stack full_;
    Stack empties_;
    Atomic<std::size_t> provided_{0};  // magazines that belong to no cache
    Atomic<std::size_t> outside_{0};
    Atomic<std::size_t> highWater_{0};
};

}  // namespace sluice::detail
