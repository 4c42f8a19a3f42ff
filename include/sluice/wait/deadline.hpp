#pragma once

#include <algorithm>
#include <chrono>

namespace sluice {

/// The deadline of a timed operation: the moment `now` plus the duration. A duration beyond the
/// range of the clock, or within a millionth of it, gives the last moment of the clock. A negative
/// duration gives `now`.
template <class Clock, class Ticks, class Rep, class Period>
std::chrono::time_point<Clock, Ticks> deadlineAfter(std::chrono::time_point<Clock, Ticks> now,
                                                    std::chrono::duration<Rep, Period> atMost) {
    if (!(atMost > atMost.zero())) {
        return now;
    }
    // Compared in floating point: the longest durations overflow as integers of the clock's unit.
    using Seconds = std::chrono::duration<double>;
    using TimePoint = std::chrono::time_point<Clock, Ticks>;
    constexpr auto last = TimePoint::max();
    // Before the epoch, `last - now` overflows. Close to the end, a float is rounded beyond it.
    const Seconds left = 0.999999 * Seconds(last - std::max(now, TimePoint()));
    return Seconds(atMost) < left ? now + std::chrono::ceil<Ticks>(atMost) : last;
}

/// The deadline of a timed operation that begins now, on this clock.
template <class Clock, class Rep, class Period>
typename Clock::time_point deadlineAfter(std::chrono::duration<Rep, Period> atMost) {
    return deadlineAfter(Clock::now(), atMost);
}

}  // namespace sluice
