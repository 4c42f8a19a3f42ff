#include "adapters/memory_subjects.hpp"

#include <gnu/libc-version.h>
#include <malloc.h>

#include <cstdlib>

namespace sluice::bench {

namespace {

template <std::size_t Bytes>
struct Malloc : PlainAllocator {
    using PlainAllocator::PlainAllocator;
    static std::byte* allocate() { return static_cast<std::byte*>(std::malloc(Bytes)); }
    static void deallocate(std::byte* block) { std::free(block); }
    static void trim() { malloc_trim(0); }
};

template <std::size_t Bytes>
struct NewDelete : Malloc<Bytes> {
    using Malloc<Bytes>::Malloc;
    static std::byte* allocate() { return (new Payload<Bytes>)->bytes; }
    static void deallocate(std::byte* block) { delete reinterpret_cast<Payload<Bytes>*>(block); }
};

}  // namespace

void addHeap(MemorySubjects& subjects) {
    Subject info;
    info.id = "glibc/malloc";
    info.library = "GNU C library";
    info.prebuilt = true;
    info.version = gnu_get_libc_version();
    info.use = "malloc(), free()";
    addSharedAllocator<Malloc>(subjects, info);
    info.id = "glibc/new-delete";
    info.use = "new and delete of a class without its own, on the C library's malloc()";
    addSharedAllocator<NewDelete>(subjects, info);
}

}  // namespace sluice::bench
