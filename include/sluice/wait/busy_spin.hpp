#pragma once

#include <sluice/base/platform.hpp>

#include <chrono>

namespace sluice {

/// Waits by polling without ever giving up the processor: the shortest wake-up there is.
///
/// Use it when the waiting thread owns a core. Use SpinThenYield when threads may outnumber cores,
/// Park when the wait may be long. Any number of threads may wait on one object; it has no state.
///
/// `ready` is called until it returns true and may do the awaited work itself (try to pop, say).
/// Exceptions from it pass through. notifyAll() costs nothing.
template <class Platform = StdPlatform>
class BasicBusySpin {
public:
    using Clock = typename Platform::Clock;

    template <class Ready>
    void wait(Ready&& ready) {
        while (!ready()) {
            Platform::pause();
        }
    }

    /// False when `deadline` passed first. `ready` is called at least once, also after a deadline
    /// that has passed already.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        while (!ready()) {
            if (Clock::now() >= deadline) {
                return false;
            }
            Platform::pause();
        }
        return true;
    }

    void notifyAll() noexcept {}
    void notifyOne() noexcept {}
};

using BusySpin = BasicBusySpin<>;

}  // namespace sluice
