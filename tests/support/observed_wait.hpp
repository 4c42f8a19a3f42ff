#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::test {

/// A wait strategy that counts how often a thread had to go on waiting, for all its objects
/// together. So a test can act when another thread really waits, without guessing a time.
template <class Wait>
class ObservedWait {
public:
    using Clock = typename Wait::Clock;

    template <class Ready>
    void wait(Ready&& ready) {
        wait_.wait(counting(ready));
    }
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        return wait_.waitUntil(counting(ready), deadline);
    }
    void notifyAll() noexcept { wait_.notifyAll(); }

    static std::uint64_t refusals() noexcept { return refusals_.load(std::memory_order_relaxed); }

private:
    template <class Ready>
    static auto counting(Ready& ready) {
        return [&ready] {
            const bool isReady = ready();
            // Relaxed: it must not order what the strategy under test forgets to order.
            refusals_.fetch_add(isReady ? 0 : 1, std::memory_order_relaxed);
            return isReady;
        };
    }

    inline static std::atomic<std::uint64_t> refusals_{0};

    Wait wait_;
};

}  // namespace sluice::test
