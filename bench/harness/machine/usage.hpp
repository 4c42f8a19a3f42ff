#pragma once

/// \file
/// The faults, switches and memory of this process during a round.

#include <cstdint>
#include <optional>

namespace sluice::bench {

/// The kernel's counts of all threads of this process.
struct Usage {
    std::uint64_t voluntarySwitches = 0;

    /// How often a thread lost its CPU without asking for it.
    std::uint64_t involuntarySwitches = 0;

    /// Page faults: those served from memory, and those that waited for a device.
    std::uint64_t minorFaults = 0;
    std::uint64_t majorFaults = 0;

    /// The most memory that the process has held since beginPeak(), in MiB. No value if unknown.
    std::optional<double> peakMemoryMib;

    /// Subtracts the counts. The peak stays.
    Usage& operator-=(const Usage& other) noexcept;
};

/// Starts a new peak of the memory.
void beginPeak();

/// The counts since the process began, and the peak since beginPeak().
Usage usageSoFar();

}  // namespace sluice::bench
