#pragma once

#include <atomic>
#include <cstddef>

namespace sluice::detail {

/// Which thread consumes, and in which handler it is. An unsubscriber waits for the end of that
/// handler. A publisher inside the handler must not wait.
///
/// Edges: E1 left: handler written, light fence, awaiting read -- against -- awaiting written,
/// heavy fence, handler read: either the consumer wakes the thread that waits, or that thread does
/// not wait.
template <class Platform, class Wait>
struct ConsumerState {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    static constexpr std::size_t nobody = ~std::size_t{0};

    /// The consuming thread, which writes it; null while no thread consumes.
    Atomic<const void*> thread{nullptr};
    /// The number of the thread that consumed last. 0: no thread has consumed. `nobody`: no thread
    /// has consumed, and publishers do not wait.
    Atomic<std::size_t> lastNumber{0};
    /// The handler that is about to run or runs; null between messages. Written by the consumer.
    Atomic<const void*> handler{nullptr};

    /// The number of threads that wait until a handler has ended.
    Atomic<unsigned> awaiting{0};
    Wait left;

    /// Whether the calling thread is consuming. Relaxed: equal only if this thread wrote it.
    [[nodiscard]] bool isHere() const noexcept {
        return thread.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Whether the calling thread consumes or was the last to do so. It would wait for itself. Also
    /// true if no thread has consumed yet and publishers were told not to wait.
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

    /// To be called after a change that await() waits for, and a light fence.
    [[gnu::always_inline]] void tellIfAwaited() noexcept {
        // Relaxed: the fence orders it.
        if (__builtin_expect(awaiting.load(std::memory_order_relaxed) != 0, 0)) {
            left.notifyAll();
        }
    }

    /// Waits until hasEnded(), which the consumer makes true.
    template <class HasEnded>
    void await(HasEnded hasEnded) {
        if (hasEnded()) {
            return;
        }
        // Relaxed, both: it is only a count, and the fence orders its increment.
        awaiting.fetch_add(1, std::memory_order_relaxed);
        Platform::Fence::heavy();  // E1 left; the strategy may have no fence of its own
        left.wait(hasEnded);
        awaiting.fetch_sub(1, std::memory_order_relaxed);
    }
};

}  // namespace sluice::detail
