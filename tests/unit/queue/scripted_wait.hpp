#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace sluice::test {

/// A wait strategy for tests in a single thread. The test's hook acts for the other side when a
/// thread would sleep. A wait that the hook does not end throws. A timed wait lets the clock reach
/// its limit instead.
struct ScriptedWait {
    struct Clock {
        using duration = std::chrono::nanoseconds;
        using rep = duration::rep;
        using period = duration::period;
        using time_point = std::chrono::time_point<Clock>;
        static constexpr bool is_steady = true;
        static time_point now() noexcept { return time; }
        inline static time_point time{};
    };

    template <class Ready>
    void wait(Ready&& ready) {
        lastWaiter = this;
        while (!ready()) {
            sleep();
        }
    }

    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, Clock::time_point deadline) {
        lastWaiter = this;
        lastDeadline = deadline;
        while (!ready()) {
            if (Clock::time >= deadline) {
                return false;
            }
            if (onSleep) {
                sleep();
            } else {
                Clock::time = deadline;
            }
        }
        return true;
    }

    void notifyAll() noexcept { ++notifications; }

    static void sleep() {
        ++sleeps;
        std::exchange(onSleep, nullptr)();
    }

    static void reset() {
        Clock::time = Clock::time_point{std::chrono::hours{1}};
        onSleep = nullptr;
        lastWaiter = nullptr;
        lastDeadline = {};
        sleeps = 0;
    }

    int notifications = 0;

    inline static std::function<void()> onSleep;
    inline static ScriptedWait* lastWaiter = nullptr;
    inline static Clock::time_point lastDeadline{};
    inline static int sleeps = 0;
};

/// Notes the calls of a queue to its pacing.
struct ScriptedPacing {
    void polled(std::size_t count) const { batches.push_back(count); }
    void full() const { ++refusals; }

    static void reset() {
        batches.clear();
        refusals = 0;
    }

    inline static std::vector<std::size_t> batches;
    inline static int refusals = 0;
};

}  // namespace sluice::test
