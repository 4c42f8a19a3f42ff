#pragma once

#include <atomic>

namespace sluice::detail {

/// Which thread consumes, and which handler it is in: what an unsubscriber must wait for, and where
/// a publisher must not wait.
template <class Platform>
struct ConsumerState {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    /// The consumer while it consumes; null otherwise.
    Atomic<const void*> thread{nullptr};
    /// The thread that consumed last.
    Atomic<const void*> lastThread{nullptr};
    /// The handler that is about to run or runs; null between handlers.
    Atomic<const void*> handler{nullptr};

    /// Whether the calling thread is consuming. Relaxed: equal only if this thread wrote it.
    [[nodiscard]] bool isHere() const noexcept {
        return thread.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Whether the calling thread consumes, or was the last one to do so. If it waits for the
    /// consumer, it waits for itself.
    [[nodiscard]] bool isMine() const noexcept {
        return lastThread.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    void begin() noexcept {
        thread.store(Platform::thisThread(), std::memory_order_relaxed);
        lastThread.store(Platform::thisThread(), std::memory_order_relaxed);
    }
    void end() noexcept { thread.store(nullptr, std::memory_order_relaxed); }
};

}  // namespace sluice::detail
