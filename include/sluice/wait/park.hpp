#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/event_count.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace sluice {

/// Waits in three stages: a short spin, a few yields, then asleep in the kernel until notified.
///
/// Use it by default: short waits cost no system call, long ones no processor time. Use BusySpin or
/// SpinThenYield when even a wake-up through the kernel (some microseconds) is too slow.
///
/// Any number of threads may wait and notify on one object. A waiter's contract: what makes `ready`
/// true is made visible before notifyAll() is called, and notifyAll() follows each such change;
/// then no wake-up is lost. notifyAll() is cheap (a load and a fence that is a compiler barrier on
/// Linux) and makes no system call while nobody sleeps. It wakes all sleepers, and each checks its
/// own condition again. notifyOne() wakes one sleeper. Use it in place of notifyAll() where all
/// threads wait for the same thing and each change serves one of them. A thread that waited, and
/// leaves something for another one, calls notifyOne() itself. `ready` may throw; the wait is then
/// called off and the exception passes through.
template <class Platform = StdPlatform, class Parker = DefaultParker>
class BasicPark {
public:
    using Clock = typename Platform::Clock;

    struct Options {
        /// Polls with a pause instruction in between.
        std::uint32_t spins = 64;
        /// Polls after that, with the processor offered to other threads in between.
        std::uint32_t yields = 8;
    };

    constexpr BasicPark() noexcept : BasicPark(Options{}) {}
    constexpr explicit BasicPark(const Options& options) noexcept : options_(options) {}

    template <class Ready>
    void wait(Ready&& ready) {
        if (!readyAwake(ready)) {
            eventCount_.await(ready);
        }
    }

    /// False when `deadline` passed first. `ready` is called at least once, and just once if
    /// `deadline` has passed already.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        if (Clock::now() >= deadline) {
            return ready();
        }
        return readyAwake(ready) || eventCount_.awaitUntil(ready, deadline);
    }

    void notifyAll() noexcept { eventCount_.notifyAll(); }
    void notifyOne() noexcept { eventCount_.notifyOne(); }

private:
    template <class Ready>
    bool readyAwake(Ready& ready) const {
        for (std::uint32_t i = 0; i < options_.spins; ++i) {
            if (ready()) {
                return true;
            }
            Platform::pause();
        }
        for (std::uint32_t i = 0; i < options_.yields; ++i) {
            if (ready()) {
                return true;
            }
            Platform::yield();
        }
        return false;
    }

    Options options_;
    BasicEventCount<Platform, Parker> eventCount_;
};

/// The wait strategy that gives the processor back.
using Park = BasicPark<>;

}  // namespace sluice
