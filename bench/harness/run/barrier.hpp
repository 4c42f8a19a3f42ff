#pragma once

/// \file
/// Lets the threads of a round start their timed part together.

#include <atomic>
#include <cstddef>
#include <thread>

namespace sluice::bench {

/// A reusable barrier. Threads spin for a while and then yield, so that it also works when they
/// share a CPU.
class StartBarrier {
public:
    explicit StartBarrier(std::size_t parties) noexcept : parties_(parties) {}

    void arriveAndWait() noexcept {
        // Reads the generation before it arrives. Later the last thread may have raised it.
        const std::size_t generation = generation_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
            // Relaxed: no thread arrives again before the release store below.
            arrived_.store(0, std::memory_order_relaxed);
            generation_.store(generation + 1, std::memory_order_release);
            return;
        }
        for (int spins = 0; generation_.load(std::memory_order_acquire) == generation; ++spins) {
            if (spins > spinLimit) {
                std::this_thread::yield();
            }
        }
    }

private:
    static constexpr int spinLimit = 2000;

    const std::size_t parties_;
    std::atomic<std::size_t> arrived_{0};
    std::atomic<std::size_t> generation_{0};
};

}  // namespace sluice::bench
