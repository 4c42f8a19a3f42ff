#pragma once

#include <sluice/actor/actor_traits.hpp>
#include <sluice/base/assert.hpp>

#include <atomic>
#include <chrono>

namespace sluice {

/// A clock that only a test advances. Each Tag has its own clock. Any thread may read the clock,
/// but only one thread may move it.
template <class Tag = void>
class ManualClock {
public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<ManualClock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        return time_point(duration(now_.load(std::memory_order_relaxed)));  // value only
    }
    /// Moves the clock forward to `time`. Beyond 146 years, differences between times may overflow.
    static void moveTo(time_point time) noexcept {
        SLUICE_ASSERT(time >= now(), "a steady clock does not move back");
        now_.store(time.time_since_epoch().count(), std::memory_order_relaxed);  // value only
    }
    static void advance(duration by) noexcept { moveTo(now() + by); }
    /// Sets the clock to zero. Objects that have read the clock must no longer be in use.
    static void reset() noexcept { now_.store(0, std::memory_order_relaxed); }

private:
    inline static std::atomic<rep> now_{0};
};

/// The wait strategy of objects that a test runs on one thread. waitUntil() never waits. wait()
/// terminates the program if ready() is false, because no thread could end the wait.
template <class Platform>
class ManualWait {
public:
    using Clock = typename Platform::Clock;

    template <class Ready>
    void wait(Ready&& ready) {
        if (!ready()) {
            failAssertion({"nothing to wait for",
                           "a thread that drives objects by hand would wait for itself: let "
                           "it drive the objects until what it needs is there",
                           __FILE__, __LINE__});
        }
    }
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point) {
        return ready();
    }
    void notifyAll() noexcept {}
};

template <class Base, class Tag>
struct ManualPlatform : Base {
    using Clock = ManualClock<Tag>;
};

/// The traits of an active object that a test runs with handleQueued() and a ManualClock.
template <class Base = ActorTraits, class Tag = void>
struct ManualTraits : Base {
    using Platform = ManualPlatform<typename Base::Platform, Tag>;
    using Wait = ManualWait<Platform>;
};

}  // namespace sluice
