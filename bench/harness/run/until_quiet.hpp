#pragma once

/// \file
/// Measures again while the machine is not steady. Only the machine decides: the figures of the
/// subjects have no say in which attempt counts.

#include "harness/machine/clock.hpp"

#include <cstddef>

namespace sluice::bench {

/// Calls `attempt()` until it returns true, which means that the machine was steady, or until
/// `limitNs` is over. Returns how often it was called, at least once.
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
