#pragma once

#include <chrono>

namespace sluice {

/// The moment that lies so long ahead on this clock; the last one there is for durations that lead
/// beyond it, and the present for negative ones. What every timed operation of the library makes of
/// its duration.
template <class Clock, class Rep, class Period>
typename Clock::time_point deadlineAfter(std::chrono::duration<Rep, Period> atMost) {
    const auto now = Clock::now();
    if (!(atMost > atMost.zero())) {
        return now;
    }
    // Compared in floating point: the longest durations overflow as integers of the clock's unit.
    using Seconds = std::chrono::duration<double>;
    return Seconds(atMost) < Seconds(Clock::time_point::max() - now)
               ? now + std::chrono::ceil<typename Clock::duration>(atMost)
               : Clock::time_point::max();
}

}  // namespace sluice
