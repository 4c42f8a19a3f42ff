#pragma once

#include <sluice/memory/detail/magazine.hpp>
#include <sluice/memory/detail/owner_gate.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// The free blocks of one thread: two magazines. A block goes into the cache of the thread that
/// frees it, also if another thread has allocated it.
///
/// One thread at a time uses it; other threads read figures. A thread may close the loaded magazine
/// of an idle thread, and then uses both magazines. PoolDepot exchanges magazines.
template <class Platform, std::size_t Rounds>
struct ThreadCache {
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Magazine = detail::Magazine<Platform, Rounds>;

    /// A block of the loaded magazine; null if it has none, or is closed.
    void* tryTake() noexcept {
        void* const block = loaded.enter()->tryPop();
        loaded.leave();
        return block;
    }

    /// Returns false if the loaded magazine is full, or closed.
    bool tryGive(void* block) noexcept {
        const bool isGiven = loaded.enter()->tryPush(block);
        loaded.leave();
        return isGiven;
    }

    /// The user of the cache calls it. Relaxed: a figure.
    void countGiven(std::int64_t blocks) noexcept {
        given.store(given.load(std::memory_order_relaxed) + blocks, std::memory_order_relaxed);
    }

    OwnerGate<Platform, Magazine> loaded;
    Magazine* shelved = nullptr;  // the loaded magazine while closed; guarded by the pool's lock
    Atomic<Magazine*> previous{nullptr};
    /// The number of blocks that this cache gave to other caches, less the blocks that it got. The
    /// user of the cache writes it. It may be negative, so it is not a SingleWriterCounter.
    Atomic<std::int64_t> given{0};
};

}  // namespace sluice::detail
