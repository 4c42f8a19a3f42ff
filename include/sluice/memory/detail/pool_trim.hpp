#pragma once

#include <sluice/memory/detail/pool_core.hpp>

#include <cstddef>
#include <utility>

// How a pool takes free blocks back from idle threads, and gives whole slabs back.

namespace sluice::detail {

/// Holds trimMutex_ while the caller locks and unlocks lock_ several times.
template <class Traits>
struct PoolCore<Traits>::TrimLock {
    explicit TrimLock(Lock& lock) noexcept : guard(lock) {}
    const Guard guard;
};

template <class Traits>
void PoolCore<Traits>::reclaim() noexcept {
    const TrimLock trimLock(trimMutex_);
    emptyIdleCaches(trimLock);
}

template <class Traits>
std::size_t PoolCore<Traits>::trim(Slot* slot) noexcept {
    Slab* unused = nullptr;
    {
        const TrimLock trimLock(trimMutex_);
        if (slot != nullptr) {
            const Guard guard(lock_);
            emptyIntoCommon(guard, *slot);
        }
        emptyIdleCaches(trimLock);
        unused = withdrawUnusedSlabs(trimLock);
    }
    return destroyAll(unused);
}

template <class Traits>
void PoolCore<Traits>::emptyIdleCaches(const TrimLock& /*lock*/) noexcept {
    Slot* first = nullptr;
    bool isAnyClosed = false;
    {
        const Guard guard(lock_);
        first = slots_;
        for (Slot* slot = first; slot != nullptr && Depot::canClose(); slot = slot->next) {
            if (depot_.blocksIn(guard, slot->cache) != 0) {
                depot_.close(guard, slot->cache);
                isAnyClosed = true;
            }
        }
    }
    if (isAnyClosed) {
        Platform::Fence::heavy();
    }
    // lock_ may be free between two slots, because new slots come only in front of `first`.
    for (Slot* slot = first; isAnyClosed && slot != nullptr; slot = slot->next) {
        const Guard guard(lock_);
        if (depot_.isLeft(guard, slot->cache)) {
            depot_.emptyInto(common_, slot->cache);
        }
        depot_.open(guard, slot->cache);
    }
}

template <class Traits>
Slab* PoolCore<Traits>::withdrawUnusedSlabs(const TrimLock& /*lock*/) noexcept {
    Magazine* held = depot_.withdraw();
    for (Magazine* magazine = held; magazine != nullptr; magazine = depot_.nextHeld(*magazine)) {
        const Guard guard(lock_);
        for (void* const block : *magazine) {
            countFree(guard, block);
        }
    }
    // After takeUnused() the tree finds no block of an unused slab.
    const auto isKeptBy = [this](const Guard& guard) {
        return [this, &guard](void* block) { return slabOf(guard, block) != nullptr; };
    };
    Slab* unused = nullptr;
    {
        const Guard guard(lock_);
        depot_.visit(common_, [&](void* block) { countFree(guard, block); });
        unused = slabs_.takeUnused();
        for (const Slab* slab = unused; slab != nullptr; slab = slab->next) {
            present_ -= slab->blockCount();
            blocks_.fetch_sub(slab->blockCount(), std::memory_order_relaxed);
        }
        depot_.filter(common_, isKeptBy(guard));
    }
    while (held != nullptr) {
        Magazine& magazine = *std::exchange(held, depot_.nextHeld(*held));
        const Guard guard(lock_);
        depot_.putBack(magazine, common_, isKeptBy(guard));
    }
    return unused;
}

}  // namespace sluice::detail
