#pragma once

#include <atomic>
#include <cstddef>

namespace sluice::test {

/// Counts the calls of the global operator new and delete in the process while it exists.
///
/// Linking `sluice_allocation_count` replaces those operators for the executable. It counts all
/// threads. Scopes may nest. It does not see direct calls of `malloc`.
class AllocationCount {
public:
    AllocationCount() noexcept;

    /// Calls of any form of operator new since construction.
    [[nodiscard]] std::size_t allocations() const noexcept;
    /// Calls of any form of operator delete with a pointer that is not null, since construction.
    [[nodiscard]] std::size_t deallocations() const noexcept;
    /// Bytes allocated since construction. Deallocations are not subtracted.
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    std::size_t allocationsBefore_;
    std::size_t deallocationsBefore_;
    std::size_t bytesBefore_;
};

/// From now on the global operator new fails for the calling thread while `isShort` is true.
void failAllocationsWhile(const std::atomic<bool>& isShort) noexcept;

/// From now on each call of the global operator new by the calling thread first calls hook().
void callBeforeAllocations(void (*hook)() noexcept) noexcept;

}  // namespace sluice::test
