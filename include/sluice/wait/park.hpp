#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/event_count.hpp>

#include <atomic>
#include <cstdint>

namespace sluice {

/// Waits in three stages: a short spin, a few yields, and a sleep in the kernel until notified.
///
///     sluice::Park park;
///     park.wait([&] { return isReady.load(); });  // one thread
///     isReady.store(true);                        // another thread
///     park.notifyAll();
///
/// Use it by default: short waits cost no system call, long waits no processor time. Use BusySpin
/// or SpinThenYield if a wake-up through the kernel (some microseconds) is too slow.
///
/// Threads: any number of threads may wait and notify on one object.
///
/// Rule: after each change that `ready` checks, the thread that made the change calls notifyAll().
/// So no wake-up is lost. notifyAll() is cheap: a load, and a fence that is a compiler barrier on
/// Linux. It makes no system call while no thread sleeps. It wakes all sleepers, and each checks
/// its own condition again.
///
/// notifyOne() wakes one sleeper. Use it instead of notifyAll() if all threads wait for the same
/// thing and each change serves one of them. A thread that has waited, and leaves something for
/// another one, calls notifyOne() itself.
///
/// Exceptions: if `ready` throws, the wait ends and the exception passes through.
///
/// Cost: the polls before a sleep take microseconds of processor time. After 8 waits in a row whose
/// polls found nothing, only one of 16 waits polls, until polls succeed again.
template <class Platform = StdPlatform, class Parker = DefaultParker>
class BasicPark {
public:
    using Clock = typename Platform::Clock;

    struct Options {
        /// The number of polls with a pause instruction in between.
        std::uint32_t spins = 64;
        /// The number of polls after that, with a yield to other threads in between.
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

    /// Returns false if `deadline` passed first. It calls `ready` at least once, and exactly once
    /// if `deadline` has passed already.
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
    /// Polls are useless if waits are long. After `patience` waits in a row whose polls found
    /// nothing, only one of `interval` waits polls.
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
    /// The number of waits in a row whose polls found nothing, or did not poll. Waiters write it.
    typename Platform::template Atomic<std::uint32_t> inVain_{0};
    BasicEventCount<Platform, Parker> eventCount_;
};

/// The default wait strategy.
using Park = BasicPark<>;

}  // namespace sluice
