#pragma once

/// \file
/// Measures again while the machine is not steady. Only the machine decides which attempt counts,
/// never the figures of the subjects.

#include "harness/machine/clock.hpp"

#include <cstddef>

namespace sluice::bench {

/// Calls `attempt()` until it returns true, because the machine was steady, or until `limitNs` is
/// over. Returns the number of calls, at least 1.
template <class Attempt, class Now>
std::size_t repeatUntilQuiet(double limitNs, Attempt&& attempt, Now&& clock) {
    const Nanoseconds beganAt = clock();
    std::size_t attempts = 1;
    while (!attempt() && double(clock() - beganAt) < limitNs) {
        ++attempts;
    }
    return attempts;
}

}  // namespace sluice::bench
