#pragma once

#include <atomic>

namespace sluice::detail {

/// Which thread consumes, and which handler it is in: what an unsubscriber must wait for.
template <class Platform>
struct ConsumerState {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    /// The consumer while it consumes; null otherwise.
    Atomic<const void*> thread{nullptr};
    /// The handler that is about to run or runs; null between handlers.
    Atomic<const void*> handler{nullptr};

    /// Whether the calling thread is consuming. Relaxed: equal only if this thread wrote it.
    [[nodiscard]] bool isHere() const noexcept {
        return thread.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    void begin() noexcept { thread.store(Platform::thisThread(), std::memory_order_relaxed); }
    void end() noexcept { thread.store(nullptr, std::memory_order_relaxed); }
};

}  // namespace sluice::detail
