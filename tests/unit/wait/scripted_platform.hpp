#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/park.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace sluice::test {

/// One scripted machine for tests of the wait module that run in a single thread. At a chosen
/// moment a hook does the work of another thread.
///
/// Its time stands still unless a test moves it. All state is static, as a platform's must be;
/// `Script` makes a fresh state for each test.
struct Script {
    using Time = std::chrono::nanoseconds;
    using Hook = std::function<void()>;

    int pauses = 0;
    int yields = 0;
    int lightFences = 0;
    int heavyFences = 0;
    int clockReadings = 0;
    int parks = 0;
    int unparks = 0;
    int sleeps = 0;
    std::vector<Time> timedParks;

    Time now{0};
    /// How far the clock runs on by itself after each reading.
    Time step{0};

    Hook onYield;
    Hook onLightFence;
    Hook onHeavyFence;
    Hook onClockReading;
    /// Called when a thread would fall asleep; it returns to its caller afterwards.
    Hook onPark;

    Script() { current = this; }
    ~Script() { current = nullptr; }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    /// A thread that falls asleep again and again would do so for ever: the program ends instead.
    void fallAsleep() {
        if (++sleeps > 1000) {
            std::fputs("scripted: nothing wakes the sleeping thread\n", stderr);
            std::abort();
        }
        run(onPark);
    }

    static void run(const Hook& hook) {
        if (hook) {
            hook();
        }
    }

    inline static Script* current = nullptr;
};

struct ScriptedClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<ScriptedClock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        Script& script = *Script::current;
        ++script.clockReadings;
        Script::run(script.onClockReading);
        const time_point reading{script.now};
        script.now += script.step;
        return reading;
    }
};

struct ScriptedFence {
    static void light() {
        ++Script::current->lightFences;
        Script::run(Script::current->onLightFence);
    }
    static void heavy() {
        ++Script::current->heavyFences;
        Script::run(Script::current->onHeavyFence);
    }
};

struct ScriptedPlatform : StdPlatform {
    using Clock = ScriptedClock;
    using Fence = ScriptedFence;

    static void pause() noexcept { ++Script::current->pauses; }
    static void yield() noexcept {
        ++Script::current->yields;
        Script::run(Script::current->onYield);
    }
};

struct ScriptedParker {
    template <class Word, class StillWaiting>
    void park(const Word& word, StillWaiting stillWaiting, std::chrono::nanoseconds atMost) {
        if (!stillWaiting(word.load())) {
            return;
        }
        if (atMost == std::chrono::hours(24)) {
            ++Script::current->parks;
        } else {
            Script::current->timedParks.push_back(atMost);
        }
        Script::current->fallAsleep();
    }

    template <class Word>
    void unparkAll(const Word&) {
        ++Script::current->unparks;
    }

    template <class Word>
    void unparkOne(const Word&) {
        ++Script::current->unparks;
    }
};

constexpr ScriptedClock::time_point at(long long nanoseconds) {
    return ScriptedClock::time_point{std::chrono::nanoseconds{nanoseconds}};
}

}  // namespace sluice::test
