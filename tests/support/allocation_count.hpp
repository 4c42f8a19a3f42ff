#pragma once

#include <atomic>
#include <cstddef>

namespace sluice::test {

/// Counts the calls of the global operator new and delete in the whole process while it lives.
///
/// Linking `sluice_allocation_count` replaces those operators for the executable. All threads are
/// counted, so a zero covers producers and consumers alike; scopes may nest. `malloc` called
/// directly is not seen.
class AllocationCount {
public:
    AllocationCount() noexcept;

    /// Calls of any form of operator new since construction.
    [[nodiscard]] std::size_t allocations() const noexcept;
    /// Calls of any form of operator delete with a pointer that is not null, since construction.
    [[nodiscard]] std::size_t deallocations() const noexcept;
    /// Bytes asked for since construction; bytes given back are not subtracted.
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    std::size_t allocationsBefore_;
    std::size_t deallocationsBefore_;
    std::size_t bytesBefore_;
};

/// From now on the calling thread gets no memory from the global operator new while `isShort`.
void failAllocationsWhile(const std::atomic<bool>& isShort) noexcept;

/// From now on each call of the global operator new by the calling thread first calls hook().
void callBeforeAllocations(void (*hook)() noexcept) noexcept;

}  // namespace sluice::test
