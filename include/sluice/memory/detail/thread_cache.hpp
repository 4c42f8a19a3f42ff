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
/// Used by one thread at a time, except the figures. The loaded magazine of an idle thread can be
/// closed; then the thread that has closed it uses both magazines. PoolDepot exchanges magazines.
template <class Platform, std::size_t Rounds>
struct ThreadCache {
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Magazine = detail::Magazine<Platform, Rounds>;

    /// A block of the loaded magazine; null when it has none, or is closed.
    void* tryTake() noexcept {
        void* const block = loaded.enter()->tryPop();
        loaded.leave();
        return block;
    }

    /// False when the loaded magazine is full, or closed.
    bool tryGive(void* block) noexcept {
        const bool isGiven = loaded.enter()->tryPush(block);
        loaded.leave();
        return isGiven;
    }

    /// By the user of the cache. Relaxed: a figure.
    void countGiven(std::int64_t blocks) noexcept {
        given.store(given.load(std::memory_order_relaxed) + blocks, std::memory_order_relaxed);
    }

    OwnerGate<Platform, Magazine> loaded;
    Magazine* shelved = nullptr;  // the loaded one while it is closed; guarded by the pool's lock
    Atomic<Magazine*> previous{nullptr};
    /// Blocks that this cache gave to others, less those that others gave to it. The user of the
    /// cache writes it. It may be negative, so it is not a SingleWriterCounter.
    Atomic<std::int64_t> given{0};
};

}  // namespace sluice::detail
