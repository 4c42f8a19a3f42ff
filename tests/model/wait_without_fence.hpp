#pragma once

#include "support/model/platform.hpp"

#include <atomic>
#include <cstdint>

namespace sluice::model {

/// A wait strategy that keeps its contract and orders nothing else: a notification that follows a
/// change ends the wait. It has no fence, so it does not hide a missing fence of its user.
class WaitWithoutFence {
public:
    using Clock = ModelPlatform::Clock;

    template <class Ready>
    void wait(Ready&& ready) {
        for (;;) {
            const std::uint32_t seen = told_.load(std::memory_order_acquire);
            if (ready()) {
                return;
            }
            while (told_.load(std::memory_order_acquire) == seen) {
                ModelPlatform::pause();
            }
        }
    }

    /// Waits without a limit, unless the deadline has passed already.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, Clock::time_point deadline) {
        if (Clock::now() >= deadline) {
            return ready();
        }
        wait(ready);
        return true;
    }

    void notifyAll() noexcept { told_.fetch_add(1, std::memory_order_release); }

private:
    Atomic<std::uint32_t> told_{0};
};

}  // namespace sluice::model
