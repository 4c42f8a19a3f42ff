#pragma once

/// \file
/// Counts calls of the allocator, in a process whose malloc() was replaced by one that counts.

#include <cstdint>
#include <optional>

namespace sluice::bench {

/// Whether anybody counts in this process.
bool countsAllocations() noexcept;

/// How often malloc() and its like were called so far, by all threads; 0 when nobody counts.
std::uint64_t allocationsSoFar() noexcept;

/// Adds up parts of a round. Has no value when nobody counts.
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
