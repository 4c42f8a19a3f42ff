#pragma once

#include <sluice/base/platform.hpp>

namespace [[gnu::visibility("default")]] sluice {

/// The wait between two polls of a location that another thread is about to change.
///
///     sluice::Backoff backoff;
///     while (!isReady.load(std::memory_order_acquire)) {
///         backoff.wait();
///     }
///
/// Each call of wait() lasts about twice as long as the call before: 1, 2, 4 ... 64 pauses of the
/// processor. So a short wait ends quickly, and pollers soon stop disturbing the thread that they
/// wait for. After 127 pauses, a few microseconds, every call yields to other threads. If there are
/// more ready threads than cores, the awaited thread may not be running, and more pauses would
/// delay it.
///
/// Use it for waits that end within microseconds unless the other thread is preempted. Use a wait
/// strategy of the module `wait` for waits that may take long, because a thread in a Backoff never
/// sleeps.
///
/// Threads: one object for one wait of one thread. Cost: a counter; no allocation, no exceptions.
///
/// Tests: tests/unit/base/backoff_test.cpp.
template <class Platform = StdPlatform>
class BasicBackoff {
public:
    /// The most pauses of one wait().
    static constexpr unsigned maxPauses = 64;

    /// Waits one step, longer than the step before.
    void wait() noexcept {
        if (pauses_ > maxPauses) {
            Platform::yield();
            return;
        }
        for (unsigned i = 0; i < pauses_; ++i) {
            Platform::pause();
        }
        pauses_ *= 2;
    }

    /// Starts over with the shortest step, for the next wait.
    void reset() noexcept { pauses_ = 1; }

    /// Whether the next wait() yields to other threads.
    [[nodiscard]] bool isYielding() const noexcept { return pauses_ > maxPauses; }

private:
    unsigned pauses_ = 1;
};

using Backoff = BasicBackoff<>;

}  // namespace sluice
