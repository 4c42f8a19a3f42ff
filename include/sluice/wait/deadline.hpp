#pragma once

#include <chrono>

namespace sluice {

/// The moment that lies so long after another one, `now`; the last one there is for durations that
/// lead beyond it, and `now` for negative ones. What every timed operation of the library makes of
/// its duration.
template <class Clock, class Ticks, class Rep, class Period>
std::chrono::time_point<Clock, Ticks> deadlineAfter(std::chrono::time_point<Clock, Ticks> now,
                                                    std::chrono::duration<Rep, Period> atMost) {
    if (!(atMost > atMost.zero())) {
        return now;
    }
    // Compared in floating point: the longest durations overflow as integers of the clock's unit.
    using Seconds = std::chrono::duration<double>;
    constexpr auto last = std::chrono::time_point<Clock, Ticks>::max();
    return Seconds(atMost) < Seconds(last - now) ? now + std::chrono::ceil<Ticks>(atMost) : last;
}

/// The moment that lies so long ahead on this clock.
template <class Clock, class Rep, class Period>
typename Clock::time_point deadlineAfter(std::chrono::duration<Rep, Period> atMost) {
    return deadlineAfter(Clock::now(), atMost);
}

}  // namespace sluice
