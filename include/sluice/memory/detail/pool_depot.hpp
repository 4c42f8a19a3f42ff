#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/memory/detail/block_options.hpp>
#include <sluice/memory/detail/magazine.hpp>
#include <sluice/memory/detail/owner_gate.hpp>
#include <sluice/memory/detail/thread_cache.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>

namespace sluice::detail {

/// The free blocks that the caches of a pool share, a magazine at a time.
///
/// A cache holds two magazines. A block comes from the loaded magazine and goes back to it. If an
/// allocation finds it empty, or a deallocation finds it full, the cache swaps its magazines. If
/// both are empty (or full), the cache exchanges one with the depot for a full (or empty) one. So
/// at least as many calls as a magazine has rounds lie between two exchanges of the same kind. (J.
/// Bonwick and J. Adams, "Magazines and Vmem", 2001; here the depot is two lock-free stacks instead
/// of two lists under a lock.)
///
/// Only full magazines are in the stack of full magazines. Each cache has two magazines, and there
/// are as many more as all blocks would fill. So a full cache always finds an empty magazine. No
/// magazine is freed before the pool ends.
template <class Traits>
class PoolDepot {
    using Platform = typename Traits::Platform;
    static constexpr std::size_t rounds = Traits::magazineRounds;
    static_assert(rounds > 0, "magazineRounds of the traits must not be 0");

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Stack = MagazineStack<Platform, rounds>;

public:
    using Magazine = detail::Magazine<Platform, rounds>;
    /// Proves that the caller holds the lock of the pool.
    using Guard = std::lock_guard<SpinLock>;

    using Cache = ThreadCache<Platform, rounds>;

    explicit PoolDepot(std::pmr::memory_resource* memory) noexcept : store_(memory) {
        closed_.close();
    }

    /// Gives a cache its magazines. Throws the exceptions of the memory resource.
    void equip(Cache& cache) {
        Magazine& loaded = store_.create();
        set(cache, &loaded, &store_.create());
    }

    /// Makes magazines for `blocks` blocks, the number after the next slab. If the memory resource
    /// throws, the magazines made so far stay for the next call.
    void provideFor(std::size_t blocks) {
        // Edge E3 provided: magazine pushed -> provided_ release .. acquire -> blocks added by a
        // thread that relies on it.
        while (provided_.load(std::memory_order_acquire) < blocks / rounds + 1) {
            empties_.push(store_.create());
            provided_.fetch_add(1, std::memory_order_release);
        }
    }

    /// Adds the new blocks block(0) to block(count - 1) by way of a cache.
    template <class Block>
    void add(Cache& cache, std::size_t count, Block block) noexcept {
        for (std::size_t i = count; i != 0; --i) {
            countOutside(1);  // give() subtracts blocks that it puts away
            give(cache, block(i - 1));
        }
    }

    /// Frees all magazines. The caller ensures that no thread uses a cache any more.
    void clear() noexcept { store_.clear(); }

    // ---- For the user of the cache

    // These functions are out of line, so that the fast path of a cache saves no registers.

    /// Called if the loaded magazine is empty. Loads a magazine with blocks, if there is one.
    enum class Refill { done, none, closed };
    [[gnu::noinline]] Refill refill(Cache& cache) noexcept {
        Magazine* const empty = cache.loaded.enter();
        const Refill result = empty == &closed_ ? Refill::closed : refill(cache, *empty);
        cache.loaded.leave();
        return result;
    }

    /// Called if the loaded magazine is full. Loads one with room. False if the cache is closed.
    [[gnu::noinline]] bool makeRoom(Cache& cache) noexcept {
        Magazine* const full = cache.loaded.enter();
        if (full != &closed_) {
            makeRoom(cache, *full);
        }
        cache.loaded.leave();
        return full != &closed_;
    }

    // take() and give() are for a cache that is never closed.

    void* take(Cache& cache) noexcept {
        void* const block = cache.tryTake();
        return block != nullptr || refill(cache) != Refill::done ? block : cache.tryTake();
    }
    void give(Cache& cache, void* block) noexcept {
        while (!cache.tryGive(block)) {
            (void)makeRoom(cache);
        }
    }

    // ---- Closing the cache of another thread

    static bool canClose() noexcept { return OwnerGate<Platform, Magazine>::canClose(); }
    void close(const Guard& /*guard*/, Cache& cache) noexcept {
        cache.shelved = cache.loaded.close(&closed_);
    }
    bool isClosed(const Cache& cache) const noexcept { return cache.loaded.peek() == &closed_; }
    void open(const Guard& /*guard*/, Cache& cache) noexcept {
        if (isClosed(cache)) {
            cache.loaded.open(&closed_, cache.shelved);
        }
    }
    /// After a heavy fence: whether the user of a closed cache has stayed outside. If so, the
    /// caller excludes the user until open().
    bool isLeft(const Guard& /*guard*/, const Cache& cache) const noexcept {
        return cache.loaded.isVisitors(&closed_);
    }

    /// The caller excludes the user of `from`.
    void emptyInto(Cache& to, Cache& from) noexcept {
        for (Magazine* magazine : {loadedOf(from), previousOf(from)}) {
            while (void* const block = magazine->tryPop()) {
                give(to, block);
                from.countGiven(1);
            }
        }
    }

    /// Whether the block lies in some magazine. The caller has got the block, so it sees the entry
    /// of the thread that put the block there. Other entries may change meanwhile.
    bool holds(const void* block) const noexcept {
        for (std::uint32_t number = store_.count(); number != 0; --number) {
            const Magazine& magazine = store_.at(number);
            if (std::find(magazine.begin(), magazine.end(), block) != magazine.end()) {
                return true;
            }
        }
        return false;
    }

    // ---- For a trim

    /// Takes all full magazines out of the depot, linked by `next`. Meanwhile their blocks cannot
    /// be allocated.
    Magazine* withdraw() noexcept {
        Magazine* held = nullptr;
        while (Magazine* const full = full_.pop(store_)) {
            // Relaxed: a slow thread in pop() may read it. Its exchange then fails.
            full->next.store(held == nullptr ? 0 : held->number, std::memory_order_relaxed);
            held = full;
        }
        return held;
    }
    Magazine* nextHeld(const Magazine& magazine) const noexcept {
        const std::uint32_t number = magazine.next.load(std::memory_order_relaxed);
        return number == 0 ? nullptr : &store_.at(number);
    }

    /// Removes the blocks for which keep(block) is false. Gives the other blocks back: as a
    /// magazine if it is still full, otherwise through the cache.
    template <class Keep>
    void putBack(Magazine& magazine, Cache& cache, Keep keep) noexcept {
        if (filter(magazine, keep) == 0) {
            full_.push(magazine);
            return;
        }
        countOutside(magazine.size());
        while (void* const block = magazine.tryPop()) {
            give(cache, block);
        }
        empties_.push(magazine);
    }
    template <class Keep>
    void filter(Cache& cache, Keep keep) noexcept {
        const std::size_t removed =
            filter(*loadedOf(cache), keep) + filter(*previousOf(cache), keep);
        outside_.fetch_sub(removed, std::memory_order_relaxed);
    }
    template <class Visit>
    void visit(const Cache& cache, Visit visitor) const noexcept {
        for (const Magazine* magazine : {loadedOf(cache), previousOf(cache)}) {
            std::for_each(magazine->begin(), magazine->end(), visitor);
        }
    }

    // ---- Figures. Relaxed, all: they publish no other data.

    std::size_t blocksIn(const Guard& /*guard*/, const Cache& cache) const noexcept {
        // Edge E4 figures: magazine created -> set() release .. acquire -> its size read by a
        // thread that does not use the cache.
        return loadedOf(cache)->size() + cache.previous.load(std::memory_order_acquire)->size();
    }
    /// Blocks that are used or in a cache.
    std::size_t outside() const noexcept { return outside_.load(std::memory_order_relaxed); }
    std::size_t highWater() const noexcept { return highWater_.load(std::memory_order_relaxed); }

private:
    /// The caller excludes the user of the cache, or reads figures.
    Magazine* loadedOf(const Cache& cache) const noexcept {
        Magazine* const loaded = cache.loaded.peek();
        return loaded == &closed_ ? cache.shelved : loaded;
    }
    // Relaxed: the caller has written it, or has got the cache in a synchronised way.
    static Magazine* previousOf(const Cache& cache) noexcept {
        return cache.previous.load(std::memory_order_relaxed);
    }
    static void set(Cache& cache, Magazine* front, Magazine* back) noexcept {
        cache.loaded.set(front);
        cache.previous.store(back, std::memory_order_release);
    }

    Refill refill(Cache& cache, Magazine& loaded) noexcept {
        Magazine* const previous = previousOf(cache);
        if (!loaded.isEmpty()) {
            return Refill::done;  // the cache was closed, and is open again
        }
        if (!previous->isEmpty()) {
            set(cache, previous, &loaded);
            return Refill::done;
        }
        Magazine* const full = full_.pop(store_);
        if (full == nullptr) {
            return Refill::none;
        }
        countOutside(rounds);
        cache.countGiven(-std::int64_t{rounds});
        set(cache, full, &loaded);
        empties_.push(*previous);
        return Refill::done;
    }

    void makeRoom(Cache& cache, Magazine& loaded) noexcept {
        Magazine* const previous = previousOf(cache);
        if (!loaded.isFull()) {
            return;  // the cache was closed, and is open again
        }
        if (!previous->isFull()) {
            set(cache, previous, &loaded);
            return;
        }
        Magazine* const empty = empties_.pop(store_);
        if (__builtin_expect(empty == nullptr, 0)) {
            failForeign();  // more free blocks than the pool has blocks
        }
        set(cache, empty, &loaded);
        outside_.fetch_sub(rounds, std::memory_order_relaxed);
        cache.countGiven(std::int64_t{rounds});
        full_.push(*previous);
    }

    void countOutside(std::size_t blocks) noexcept {
        const std::size_t outside = outside_.fetch_add(blocks, std::memory_order_relaxed) + blocks;
        storeMax(highWater_, outside);
    }

    /// Returns the number of removed blocks.
    template <class Keep>
    static std::size_t filter(Magazine& magazine, Keep& keep) noexcept {
        const std::size_t size = magazine.size();
        std::size_t kept = 0;
        for (void* const block : magazine) {
            if (keep(block)) {
                magazine.blocks[++kept] = block;
            }
        }
        magazine.count.store(static_cast<std::uint32_t>(kept), std::memory_order_relaxed);
        return size - kept;
    }

    MagazineStore<Platform, rounds> store_;
    Magazine closed_;  // full to a thread that frees, empty to one that allocates

    // Written by each exchange.
    alignas(Traits::cacheLineSize) alignas(Stack) Stack full_;
    Stack empties_;
    Atomic<std::size_t> provided_{0};  // magazines from provideFor()
    Atomic<std::size_t> outside_{0};
    Atomic<std::size_t> highWater_{0};
};

}  // namespace sluice::detail
