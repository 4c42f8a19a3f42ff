#pragma once

/// \file
/// What the system did to this process while a round ran.

#include <cstdint>

namespace sluice::bench {

/// Of all threads of this process, as the kernel counts them.
struct Usage {
    std::uint64_t voluntarySwitches = 0;

    /// How often a thread lost its CPU without asking for it.
    std::uint64_t involuntarySwitches = 0;

    /// Page faults: those served from memory, and those that waited for a device.
    std::uint64_t minorFaults = 0;
    std::uint64_t majorFaults = 0;

    Usage& operator-=(const Usage& other) noexcept;
};

/// All since the process began.
Usage usageSoFar() noexcept;

}  // namespace sluice::bench
