#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/event_count.hpp>

#include <atomic>
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
///
/// The polls before a sleep take microseconds of processor time. After 8 waits in a row whose polls
/// were in vain, only one of 16 waits polls, until polls succeed again.
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

    [[gnu::always_inline]] void notifyAll() noexcept { eventCount_.notifyAll(); }
    void notifyOne() noexcept { eventCount_.notifyOne(); }

private:
    /// Polls are of no use where waits are long: after so many waits in a row whose polls were in
    /// vain, only one of `interval` waits polls.
    static constexpr std::uint32_t patience = 8;
    static constexpr std::uint32_t interval = 16;

    template <class Ready>
    bool readyAwake(Ready& ready) {
        const std::uint64_t looks = std::uint64_t{options_.spins} + options_.yields;
        if (looks == 0) {
            return false;
        }
        // Relaxed, all: a guess. When several threads count at once, a count may be lost.
        const std::uint32_t inVain = inVain_.load(std::memory_order_relaxed);
        const bool isPolling = inVain < patience || inVain % interval == 0;
        for (std::uint64_t i = 0; i < looks; ++i) {
            if (ready()) {
                if (i != 0 && inVain != 0) {
                    inVain_.store(0, std::memory_order_relaxed);
                }
                return true;
            }
            if (!isPolling) {
                break;
            }
            i < options_.spins ? Platform::pause() : Platform::yield();
        }
        inVain_.store(inVain + 1, std::memory_order_relaxed);
        return false;
    }

    Options options_;
    /// Waits in a row whose polls were in vain, or were left out. Written by threads that wait.
    typename Platform::template Atomic<std::uint32_t> inVain_{0};
    BasicEventCount<Platform, Parker> eventCount_;
};

/// The wait strategy that gives the processor back.
using Park = BasicPark<>;

}  // namespace sluice
