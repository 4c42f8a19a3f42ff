#pragma once

#include <atomic>
#include <cstddef>

// A sanitizer brings a malloc() of its own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLUICE_COUNTS_MALLOC
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef SLUICE_COUNTS_MALLOC
#endif
#endif
#endif

namespace sluice::test {

/// Counts allocations of the process while it exists: calls of the global operator new and, with
/// glibc and without a sanitizer, of malloc() and free().
///
/// Linking `sluice_allocation_count` replaces these functions for the executable. It counts all
/// threads. Scopes may nest.
class AllocationCount {
public:
    AllocationCount() noexcept;

    /// Calls of any form of operator new or malloc() since construction.
    [[nodiscard]] std::size_t allocations() const noexcept;
    /// The same without malloc(), for programs with a C library that allocates.
    [[nodiscard]] std::size_t allocationsByNew() const noexcept;
    /// Calls of any form of operator delete or free() with a pointer that is not null.
    [[nodiscard]] std::size_t deallocations() const noexcept;
    /// Bytes allocated since construction. Deallocations are not subtracted.
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    std::size_t allocationsBefore_;
    std::size_t allocationsByNewBefore_;
    std::size_t deallocationsBefore_;
    std::size_t bytesBefore_;
};

/// From now on the global operator new fails for the calling thread while `isShort` is true.
void failAllocationsWhile(const std::atomic<bool>& isShort) noexcept;

/// From now on each call of the global operator new by the calling thread first calls hook().
void callBeforeAllocations(void (*hook)() noexcept) noexcept;

}  // namespace sluice::test
