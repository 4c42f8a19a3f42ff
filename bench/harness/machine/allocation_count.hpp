#pragma once

/// \file
/// Counts calls of the allocator, in a process whose malloc() was replaced by one that counts.

#include <cstdint>
#include <optional>

namespace sluice::bench {

/// Whether this process counts allocations.
bool countsAllocations() noexcept;

/// The number of calls of malloc() and its like until now, by all threads; 0 if this process does
/// not count.
std::uint64_t allocationsSoFar() noexcept;

/// Adds up parts of a round. Has no value if this process does not count.
class AllocationCount {
public:
    void add(std::uint64_t calls) noexcept { calls_ += calls; }
    std::optional<std::uint64_t> value() const noexcept {
        return countsAllocations() ? std::optional<std::uint64_t>(calls_) : std::nullopt;
    }

private:
    std::uint64_t calls_ = 0;
};

}  // namespace sluice::bench
