#pragma once

#include <sluice/base/platform.hpp>

#include <chrono>
#include <cstdint>

namespace sluice {

/// Waits by polling: a short spin first, then with the processor offered to other threads between
/// polls.
///
/// Use it when threads may outnumber cores and a core at full load is acceptable. Use BusySpin when
/// the thread owns its core, Park when the wait may be long: this one never sleeps. Any number of
/// threads may wait on one object. Exceptions from `ready` pass through. notifyAll() costs nothing.
template <class Platform = StdPlatform>
class BasicSpinThenYield {
public:
    using Clock = typename Platform::Clock;

    struct Options {
        /// Polls with a pause instruction in between before the first yield.
        std::uint32_t spins = 64;
    };

    constexpr BasicSpinThenYield() noexcept : BasicSpinThenYield(Options{}) {}
    constexpr explicit BasicSpinThenYield(const Options& options) noexcept : options_(options) {}

    template <class Ready>
    void wait(Ready&& ready) {
        for (std::uint32_t polls = 0; !ready(); step(polls)) {
        }
    }

    /// False when `deadline` passed first. `ready` is called at least once.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        for (std::uint32_t polls = 0; !ready(); step(polls)) {
            if (Clock::now() >= deadline) {
                return false;
            }
        }
        return true;
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

}  // namespace sluice
