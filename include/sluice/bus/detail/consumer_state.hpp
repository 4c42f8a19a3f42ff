#pragma once

#include <atomic>
#include <cstddef>

namespace sluice::detail {

/// Which thread consumes, and in which handler it is. An unsubscriber waits for the end of that
/// handler, and a publisher must not wait in it.
///
/// Edges: E1 left: handler written, light fence, awaiting read -- against -- awaiting written,
/// heavy fence, handler read: either the consumer wakes the thread that waits, or that thread does
/// not wait.
template <class Platform, class Wait>
struct ConsumerState {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    static constexpr std::size_t nobody = ~std::size_t{0};

    /// The consumer while it consumes; null otherwise.
    Atomic<const void*> thread{nullptr};
    /// The number of the thread that consumed last. 0: none has. `nobody`: none has, and publishers
    /// do not wait.
    Atomic<std::size_t> lastNumber{0};
    /// The handler that is about to run or runs; null between handlers.
    Atomic<const void*> handler{nullptr};

    /// Threads that wait until a handler has ended.
    Atomic<unsigned> awaiting{0};
    Wait left;

    /// Whether the calling thread is consuming. Relaxed: equal only if this thread wrote it.
    [[nodiscard]] bool isHere() const noexcept {
        return thread.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Whether the calling thread consumes, or was the last one to do so: if it waits for the
    /// consumer, it waits for itself. Or nobody consumes yet, and publishers were told not to wait.
    [[nodiscard]] bool isMine() const noexcept {
        const std::size_t last = lastNumber.load(std::memory_order_relaxed);
        return last == Platform::threadNumber() || last == nobody;
    }
    void letPublishersWait(bool isOn) noexcept {
        lastNumber.store(isOn ? 0 : nobody, std::memory_order_relaxed);
    }
    void begin() noexcept {
        thread.store(Platform::thisThread(), std::memory_order_relaxed);
        lastNumber.store(Platform::threadNumber(), std::memory_order_relaxed);
    }
    void end() noexcept {
        thread.store(nullptr, std::memory_order_relaxed);
        Platform::Fence::light();  // E1 left
        tellIfAwaited();
    }

    /// After a change of `handler` and a light fence.
    [[gnu::always_inline]] void tellIfAwaited() noexcept {
        // Relaxed: the fence orders it.
        if (__builtin_expect(awaiting.load(std::memory_order_relaxed) != 0, 0)) {
            left.notifyAll();
        }
    }

    /// Waits until hasEnded() holds, which the consumer brings about.
    template <class HasEnded>
    void await(HasEnded hasEnded) {
        if (hasEnded()) {
            return;
        }
        // Relaxed, both: a count, and the fence orders its rise.
        awaiting.fetch_add(1, std::memory_order_relaxed);
        Platform::Fence::heavy();  // E1 left; the strategy may have no fence of its own
        left.wait(hasEnded);
        awaiting.fetch_sub(1, std::memory_order_relaxed);
    }
};

}  // namespace sluice::detail
