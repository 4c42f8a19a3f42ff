#pragma once

/// \file
/// The counters of the processor, if the kernel lets a program read them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::bench {

/// Counts of all threads of a round, in user mode. A counter that the kernel does not offer has no
/// value.
struct PerfCounts {
    std::optional<double> cycles;
    std::optional<double> instructions;
    std::optional<double> cacheMisses;
    std::optional<double> branchMisses;
    std::optional<double> migrations;
};

/// Counts from its construction on, for the calling thread and all threads that it starts later.
class PerfCounters {
public:
    PerfCounters();
    PerfCounters(const PerfCounters&) = delete;
    PerfCounters& operator=(const PerfCounters&) = delete;
    ~PerfCounters();

    /// The counts since the last call, or since construction. A counter that missed events, because
    /// it shared a counter of the processor, has no value.
    PerfCounts take() noexcept;

    /// Why there are no counts of the hardware. Empty if there are.
    const std::string& unavailableBecause() const noexcept { return because_; }

private:
    struct Counter {
        int file = -1;
        std::uint64_t last = 0;
    };

    static std::optional<double> advance(Counter& counter) noexcept;

    std::array<Counter, 5> counters_;
    std::string because_;
};

}  // namespace sluice::bench
