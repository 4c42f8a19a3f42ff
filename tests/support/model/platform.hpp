#pragma once

#include "atomic.hpp"
#include "cell.hpp"
#include "execution.hpp"

#include <sluice/wait/park.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::model {

/// The platform whose atomics, cells, fences and pauses are steps of a model execution. With it, a
/// header runs under the checker as it is shipped.
struct ModelPlatform {
    static constexpr bool hasThreads = true;

    static const void* thisThread() noexcept { return execution().thisThread(); }

    static std::size_t threadNumber() noexcept { return execution().threadNumber(); }
    static bool& runsHandlers() noexcept { return execution().runsHandlers(); }

    template <class T>
    using Atomic = model::Atomic<T>;

    using WideWord = std::uint64_t;

    template <class T>
    using Cell = model::Cell<T>;

    struct Fence {
        static void light(Site site = Site::here()) noexcept {
            execution().fence(Action::lightFence, site);
        }
        static bool tryLight(Site site = Site::here()) noexcept { return light(site), true; }
        static void heavy(Site site = Site::here()) noexcept {
            execution().fence(Action::heavyFence, site);
        }
        static bool isAsymmetric() noexcept { return true; }
    };

    /// The time passes only while all threads wait.
    struct Clock {
        using duration = std::chrono::milliseconds;
        using rep = duration::rep;
        using period = duration::period;
        using time_point = std::chrono::time_point<Clock>;
        static constexpr bool is_steady = true;
        static time_point now() noexcept {
            return time_point(duration(execution().milliseconds()));
        }
    };

    static void pause() noexcept { execution().rest(); }
    static void yield() noexcept { execution().rest(); }
};

/// As sluice::detail::FutexParker, on the futex of the model.
class ModelParker {
public:
    /// A sleep for a day has no limit, so that a lost wake-up shows.
    template <class StillWaiting>
    void park(const Atomic<std::uint64_t>& word, StillWaiting stillWaiting,
              std::chrono::nanoseconds atMost, Site site = Site::here()) {
        const std::int64_t limit = atMost / std::chrono::milliseconds(1);
        const std::uint64_t seen = word.load(std::memory_order_acquire);
        if (stillWaiting(seen)) {
            execution().sleep(
                word.id(), [seen](Word newest) { return newest >> 32U == seen >> 32U; },
                atMost >= std::chrono::hours(24) ? nullptr : &limit, site);
        }
    }

    void unparkAll(const Atomic<std::uint64_t>& word, Site site = Site::here()) {
        execution().wake(word.id(), site);
    }

    void unparkOne(const Atomic<std::uint64_t>& word, Site site = Site::here()) {
        execution().wakeOne(word.id(), site);
    }
};

/// Park without its spins and yields, which would only add schedules.
class SleepAtOnce : public BasicPark<ModelPlatform, ModelParker> {
public:
    SleepAtOnce() noexcept : BasicPark(Options{0, 0}) {}
};

}  // namespace sluice::model
