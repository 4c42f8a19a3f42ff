// A malloc() and its like that count how often they are called. Loaded in front of the C library
// (LD_PRELOAD) into a process of its own, so that timed rounds do not pay for it.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

// The names are the C library's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

// Relaxed: a count orders nothing.
std::atomic<std::uint64_t> calls{0};

void count() noexcept {
    calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t sluiceAllocationCount() {
    return calls.load(std::memory_order_relaxed);
}

void* malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}

void* calloc(std::size_t items, std::size_t size) {
    count();
    return __libc_calloc(items, size);
}

void* realloc(void* block, std::size_t size) {
    count();
    return __libc_realloc(block, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
    count();
    *block = __libc_memalign(alignment, size);
    return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
