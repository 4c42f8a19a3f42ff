#pragma once

#include <sluice/base/platform.hpp>

#include <cstdint>

namespace sluice {

/// A wait strategy that never sleeps: it polls with pauses, and later with yields.
///
/// Use SpinThenYield if threads may outnumber cores and a fully loaded core is acceptable. Use
/// BusySpin if the waiting thread has its own core. Use Park for long waits. Any number of threads
/// may wait on one SpinThenYield. `ready` may have side effects and may throw.
template <class Platform = StdPlatform>
class BasicSpinThenYield {
public:
    using Clock = typename Platform::Clock;

    struct Options {
        /// The number of pauses before the first yield.
        std::uint32_t spins = 64;
    };

    constexpr BasicSpinThenYield() noexcept : BasicSpinThenYield(Options{}) {}
    constexpr explicit BasicSpinThenYield(const Options& options) noexcept : options_(options) {}

    template <class Ready>
    void wait(Ready&& ready) {
        for (std::uint32_t polls = 0; !ready(); step(polls)) {
        }
    }

    /// Returns false if `deadline` passes before `ready` returns true. Calls `ready` at least once.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        bool inTime = true;
        wait([&] { return ready() || !(inTime = Clock::now() < deadline); });
        return inTime;
    }

    void notifyAll() noexcept {}
    void notifyOne() noexcept {}

private:
    void step(std::uint32_t& polls) const noexcept {
        if (polls < options_.spins) {
            ++polls;
            Platform::pause();
        } else {
            Platform::yield();
        }
    }

    Options options_;
};

using SpinThenYield = BasicSpinThenYield<>;

/// A stateless wait strategy that polls with pauses, for the fastest wake-up. Use BusySpin only if
/// the waiting thread has its own core.
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

    /// Returns false if `deadline` passes before `ready` returns true. Calls `ready` at least once.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        bool inTime = true;
        wait([&] { return ready() || !(inTime = Clock::now() < deadline); });
        return inTime;
    }

    void notifyAll() noexcept {}
    void notifyOne() noexcept {}
};

using BusySpin = BasicBusySpin<>;

}  // namespace sluice
