#pragma once

#include <sluice/base/platform.hpp>

namespace sluice {

/// Waits by polling, and never gives up the processor. So it has the shortest wake-up.
///
/// Use it if the waiting thread has a core of its own. Use SpinThenYield if there may be more
/// threads than cores, Park if the wait may be long. Any number of threads may wait on one object,
/// which has no state.
///
/// It calls `ready` until `ready` returns true. `ready` may do the awaited work itself, for example
/// tryPop(). Exceptions of `ready` pass through. notifyAll() costs nothing.
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

    /// Returns false if `deadline` passed first. It calls `ready` at least once, also if the
    /// deadline has passed already.
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
