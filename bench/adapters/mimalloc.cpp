#include "adapters/library_of.hpp"
#include "adapters/memory_subjects.hpp"

#include <mimalloc.h>

namespace sluice::bench {

namespace {

template <std::size_t Bytes>
struct Mimalloc : PlainAllocator {
    using PlainAllocator::PlainAllocator;
    static std::byte* allocate() { return static_cast<std::byte*>(mi_malloc(Bytes)); }
    static void deallocate(std::byte* block) { mi_free(block); }
    static void trim() { mi_collect(true); }
};

// The owner of the memory is a better proof than the names of functions.
std::string whyNotMeasured() {
    void* const theirs = mi_malloc(64);
    void* const ours = std::malloc(64);
    const bool apart = mi_is_in_heap_region(theirs) && !mi_is_in_heap_region(ours);
    mi_free(theirs);
    std::free(ours);
    return apart ? whyNotIsolated() : "its heap and the C library's are not apart";
}

}  // namespace

void addMimalloc(MemorySubjects& subjects) {
    Subject info;
    info.id = "mimalloc";
    info.library = "mimalloc";
#if !defined(SLUICE_MIMALLOC_GIVEN)
    info.prebuilt = true;
#endif
    const int version = mi_version();
    info.version = std::to_string(version / 100) + "." + std::to_string(version / 10 % 10) + "." +
                   std::to_string(version % 10);
    info.use = "mi_malloc(), mi_free(); the process keeps the C library's malloc()";
    info.absentBecause = whyNotMeasured();
    addSharedAllocator<Mimalloc>(subjects, info);
}

}  // namespace sluice::bench
