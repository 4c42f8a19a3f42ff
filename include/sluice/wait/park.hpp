#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/event_count.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class Wait, class = void>
inline constexpr bool canNotifyOne = false;
template <class Wait>
inline constexpr bool canNotifyOne<Wait, std::void_t<decltype(std::declval<Wait&>().notifyOne())>> =
    true;

}  // namespace detail

/// Wakes one of the threads that wait for the same thing. A wait strategy without notifyOne() wakes
/// all of them.
template <class Wait>
void notifyOneOf(Wait& wait) noexcept {
    if constexpr (detail::canNotifyOne<Wait>) {
        wait.notifyOne();
    } else {
        wait.notifyAll();
    }
}

/// Waits in three stages: a short spin, a few yields, and a sleep in the kernel until notified. The
/// default wait strategy.
///
///     sluice::Park park;
///     park.wait([&] { return isReady.load(); });  // one thread
///     isReady.store(true);                        // another thread
///     park.notifyAll();
///
/// Short waits make no system call, and long waits take no processor time. Use BusySpin or
/// SpinThenYield if a wake-up through the kernel (some microseconds) is too slow.
///
/// Thread safety: any number of threads may wait and notify on one object. The thread that changes
/// what `ready` checks calls notifyAll() afterwards. All sleepers then check their own conditions
/// again. Use notifyOne() if all threads wait for the same thing and each change serves one of
/// them. A woken thread that leaves something for another one calls notifyOne() itself.
///
/// Errors: an exception of `ready` ends the wait and propagates.
///
/// Performance: a notification without sleepers is a load and a light fence. The polls before a
/// sleep take microseconds of processor time; after 8 waits in a row whose polls found nothing,
/// only one of 16 waits polls, until polls succeed again.
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

    /// Returns false if `deadline` passed first. Calls `ready` at least once, and exactly once if
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
    // Polls are useless if waits are long.
    static constexpr std::uint32_t patience = 8;
    static constexpr std::uint32_t interval = 16;

    template <class Ready>
    bool readyAwake(Ready& ready) {
        const std::uint64_t polls = std::uint64_t{options_.spins} + options_.yields;
        if (polls == 0) {
            return false;
        }
        // Relaxed, all: a guess. Concurrent counts may be lost.
        const std::uint32_t misses = misses_.load(std::memory_order_relaxed);
        const bool isPolling = misses < patience || misses % interval == 0;
        for (std::uint64_t i = 0; i < polls; ++i) {
            if (ready()) {
                if (i != 0 && misses != 0) {
                    misses_.store(0, std::memory_order_relaxed);
                }
                return true;
            }
            if (!isPolling) {
                break;
            }
            i < options_.spins ? Platform::pause() : Platform::yield();
        }
        misses_.store(misses + 1, std::memory_order_relaxed);
        return false;
    }

    Options options_;
    /// The number of waits in a row whose polls found nothing, or did not poll. Waiters write it.
    typename Platform::template Atomic<std::uint32_t> misses_{0};
    BasicEventCount<Platform, Parker> eventCount_;
};

using Park = BasicPark<>;

}  // namespace sluice
