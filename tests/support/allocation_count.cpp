#include "support/allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Relaxed: plain counters. A test reads them after joining its threads, and the join orders them.
std::atomic<std::size_t> allocationCount{0};
std::atomic<std::size_t> deallocationCount{0};
std::atomic<std::size_t> byteCount{0};

thread_local const std::atomic<bool>* shortage = nullptr;
thread_local void (*beforeAllocation)() noexcept = nullptr;

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (beforeAllocation != nullptr) {
        beforeAllocation();
    }
    if (shortage != nullptr && *shortage) {
        return nullptr;
    }
    allocationCount.fetch_add(1, std::memory_order_relaxed);
    byteCount.fetch_add(size, std::memory_order_relaxed);
    // aligned_alloc needs a multiple of the alignment, and not 0.
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* allocateOrFail(std::size_t size, std::size_t alignment) {
    void* memory = allocate(size, alignment);
    if (memory == nullptr) {
#if defined(__cpp_exceptions)
        throw std::bad_alloc();
#else
        std::abort();
#endif
    }
    return memory;
}

void release(void* memory) noexcept {
    if (memory != nullptr) {
        deallocationCount.fetch_add(1, std::memory_order_relaxed);
        std::free(memory);
    }
}

constexpr std::size_t plainAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

std::size_t bytesOf(std::align_val_t alignment) noexcept {
    return static_cast<std::size_t>(alignment);
}

}  // namespace

void* operator new(std::size_t size) {
    return allocateOrFail(size, plainAlignment);
}
void* operator new[](std::size_t size) {
    return allocateOrFail(size, plainAlignment);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocateOrFail(size, bytesOf(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocateOrFail(size, bytesOf(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size, plainAlignment);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size, plainAlignment);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(size, bytesOf(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(size, bytesOf(alignment));
}

void operator delete(void* memory) noexcept {
    release(memory);
}
void operator delete[](void* memory) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    release(memory);
}

namespace sluice::test {

void failAllocationsWhile(const std::atomic<bool>& isShort) noexcept {
    shortage = &isShort;
}

void callBeforeAllocations(void (*hook)() noexcept) noexcept {
    beforeAllocation = hook;
}

AllocationCount::AllocationCount() noexcept
    : allocationsBefore_(allocationCount.load(std::memory_order_relaxed)),
      deallocationsBefore_(deallocationCount.load(std::memory_order_relaxed)),
      bytesBefore_(byteCount.load(std::memory_order_relaxed)) {
}

std::size_t AllocationCount::allocations() const noexcept {
    return allocationCount.load(std::memory_order_relaxed) - allocationsBefore_;
}

std::size_t AllocationCount::deallocations() const noexcept {
    return deallocationCount.load(std::memory_order_relaxed) - deallocationsBefore_;
}

std::size_t AllocationCount::bytes() const noexcept {
    return byteCount.load(std::memory_order_relaxed) - bytesBefore_;
}

}  // namespace sluice::test
