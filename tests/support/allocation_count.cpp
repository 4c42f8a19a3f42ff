#include "support/allocation_count.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#if defined(SLUICE_COUNTS_MALLOC)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t items, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}
#endif

namespace {

// Relaxed: plain counters. A test reads them after joining its threads, and the join orders them.
std::atomic<std::size_t> allocationCount{0};
std::atomic<std::size_t> newCount{0};  ///< the allocations by operator new
std::atomic<std::size_t> deallocationCount{0};
std::atomic<std::size_t> byteCount{0};

void count(std::size_t size) noexcept {
    allocationCount.fetch_add(1, std::memory_order_relaxed);
    byteCount.fetch_add(size, std::memory_order_relaxed);
}

#if defined(SLUICE_COUNTS_MALLOC)
void* alignedMemory(std::size_t alignment, std::size_t size) noexcept {
    return __libc_memalign(alignment, size);
}
void freeMemory(void* memory) noexcept {
    __libc_free(memory);
}
#else
void* alignedMemory(std::size_t alignment, std::size_t size) noexcept {
    return std::aligned_alloc(alignment, size);
}
void freeMemory(void* memory) noexcept {
    std::free(memory);
}
#endif

thread_local const std::atomic<bool>* shortage = nullptr;
thread_local void (*beforeAllocation)() noexcept = nullptr;

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (beforeAllocation != nullptr) {
        beforeAllocation();
    }
    if (shortage != nullptr && *shortage) {
        return nullptr;
    }
    count(size);
    newCount.fetch_add(1, std::memory_order_relaxed);
    // aligned_alloc needs a multiple of the alignment, and not 0.
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    return alignedMemory(alignment, rounded == 0 ? alignment : rounded);
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
        freeMemory(memory);
    }
}

constexpr std::size_t plainAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

std::size_t bytesOf(std::align_val_t alignment) noexcept {
    return static_cast<std::size_t>(alignment);
}

}  // namespace

#if defined(SLUICE_COUNTS_MALLOC)
// The whole process calls these instead of the C library's. A realloc() counts as one allocation.
extern "C" {
void* malloc(std::size_t size) {
    count(size);
    return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) {
    count(items * size);
    return __libc_calloc(items, size);
}
void* realloc(void* block, std::size_t size) {
    count(size);
    return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
    count(size);
    *block = __libc_memalign(alignment, size);
    return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
    release(block);
}
}
#endif

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
      allocationsByNewBefore_(newCount.load(std::memory_order_relaxed)),
      deallocationsBefore_(deallocationCount.load(std::memory_order_relaxed)),
      bytesBefore_(byteCount.load(std::memory_order_relaxed)) {
}

std::size_t AllocationCount::allocations() const noexcept {
    return allocationCount.load(std::memory_order_relaxed) - allocationsBefore_;
}

std::size_t AllocationCount::allocationsByNew() const noexcept {
    return newCount.load(std::memory_order_relaxed) - allocationsByNewBefore_;
}

std::size_t AllocationCount::deallocations() const noexcept {
    return deallocationCount.load(std::memory_order_relaxed) - deallocationsBefore_;
}

std::size_t AllocationCount::bytes() const noexcept {
    return byteCount.load(std::memory_order_relaxed) - bytesBefore_;
}

}  // namespace sluice::test
